/* SPDX-License-Identifier: Apache-2.0 */
/* How the page looks: light, dark, on paper, on a phone. */
#include "lab/report/impl.h"

#define LIGHT                                                                  \
	"--bg:#fff;--fg:#1b1f24;--dim:#4d5761;--line:#c9d1d9;--soft:#f4f6f8;"  \
	"--link:#0550ae;--kept:#0f5323;--kept-bg:#e4f5e8;--refused:#3d454d;"   \
	"--refused-bg:#eaeef2;--loss:#6b4300;--loss-bg:#fff1c9;"               \
	"--broken:#8e0a20;--broken-bg:#ffe1de;--lie:#fff;--lie-bg:#a40e26;"    \
	"--red:#c1121f;--fault:#d5dbe1;--c0:#0550ae;--c1:#953800;"             \
	"--c2:#116329;--c3:#6639ba;--c4:#99286e;--c5:#1b6a74;"
#define DARK                                                                   \
	"--bg:#0d1117;--fg:#e6edf3;--dim:#a5afba;--line:#3a424c;"              \
	"--soft:#161b22;--link:#79c0ff;--kept:#8ce99a;--kept-bg:#10291a;"      \
	"--refused:#c3ccd5;--refused-bg:#21262d;--loss:#ffd37a;"               \
	"--loss-bg:#33270a;--broken:#ffaba8;--broken-bg:#3d1417;--lie:#fff;"   \
	"--lie-bg:#b3152c;--red:#ff6b6b;--fault:#363e48;--c0:#79c0ff;"         \
	"--c1:#ffa657;--c2:#7ee787;--c3:#d2a8ff;--c4:#ff9bce;--c5:#76e3ea;"

static const char *const rules[] = {
	":root{color-scheme:light dark;" LIGHT "}\n",
	"@media screen and (prefers-color-scheme:dark){:root{" DARK "}}\n",
	"*{box-sizing:border-box}\n"
	"body{margin:0 auto;padding:1rem;max-width:1280px;color:var(--fg);"
	"background:var(--bg);font:16px/1.5 system-ui,sans-serif;"
	"overflow-wrap:anywhere;print-color-adjust:exact;"
	"-webkit-print-color-adjust:exact}\n"
	"h1{font-size:1.7rem;line-height:1.2;margin:.3rem 0 .6rem}\n"
	"h2{font-size:1.3rem;margin:2.2rem 0 .6rem;padding-bottom:.2rem;"
	"border-bottom:1px solid var(--line)}\n"
	"h3{font-size:1.05rem;margin:1.6rem 0 .2rem}\n"
	"p{margin:.3rem 0 .7rem;max-width:75ch}\n"
	"a{color:var(--link)}\n"
	"a:focus-visible,summary:focus-visible,.wide:focus-visible"
	"{outline:3px solid var(--link);outline-offset:2px}\n"
	".dim,small{color:var(--dim);font-size:.88em}\n",
	"nav ul{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;"
	"padding:0;margin:.8rem 0}\n"
	"dl.run{display:grid;grid-template-columns:max-content 1fr;"
	"gap:.1rem 1rem;margin:.6rem 0}\n"
	"dl.run dt{color:var(--dim)}dl.run dd{margin:0}\n"
	"ul.sum{list-style:none;padding:0;display:flex;flex-wrap:wrap;"
	"gap:.5rem}\n"
	"ul.sum li{padding:.2rem .6rem;border-radius:.3rem;"
	"border:1px solid currentColor}\n"
	"code{font:.88em ui-monospace,monospace}\n",
	".wide{overflow-x:auto;max-width:100%;margin:.6rem 0}\n"
	"table{border-collapse:collapse;font-size:.92rem;"
	"font-variant-numeric:tabular-nums}\n"
	"caption{text-align:left;color:var(--dim);padding:.2rem 0}\n"
	"th,td{border:1px solid var(--line);padding:.3rem .55rem;"
	"text-align:left;vertical-align:top;overflow-wrap:break-word}\n"
	"th[scope=row],td code{overflow-wrap:anywhere}\n"
	"th[scope=row]{min-width:7.5rem}td code{display:block;"
	"min-width:11rem}td.w{min-width:10rem}\n"
	"thead th,tbody th{background:var(--soft)}\n"
	"td.n,th.n{text-align:right;white-space:nowrap}\n"
	"tr.part th{color:var(--dim);font-weight:600}\n"
	"table.matrix{overflow-wrap:normal}\n"
	"table.matrix td{min-width:6.4rem}.nb{white-space:nowrap}\n"
	"table.matrix th[scope=row]{position:sticky;left:0;z-index:1;"
	"min-width:8rem;max-width:15rem;overflow-wrap:anywhere}\n"
	"table.matrix th[scope=col]{max-width:11rem;overflow-wrap:anywhere}\n"
	"table.matrix td a{color:inherit}\n"
	"table.matrix td small{display:block;color:inherit}\n"
	"table.full{width:100%}table.full th[scope=row]{min-width:5.5rem}\n"
	"tr:target>*{outline:3px solid var(--link);outline-offset:-3px}\n",
	".v-not-run{color:var(--dim)}\n"
	".v-kept{color:var(--kept);background:var(--kept-bg)}\n"
	".v-refused{color:var(--refused);background:var(--refused-bg)}\n"
	".v-declared-loss{color:var(--loss);background:var(--loss-bg)}\n"
	".v-broken{color:var(--broken);background:var(--broken-bg);"
	"font-weight:600}\n"
	".v-declared-but-broken{color:var(--lie);background:var(--lie-bg);"
	"font-weight:700}\n",
	".plots{display:grid;gap:1rem 2rem;grid-template-columns:"
	"repeat(auto-fit,minmax(min(100%,30rem),1fr))}\n"
	".plots>*{min-width:0}.group{grid-column:1/-1}"
	".group.small{grid-column:auto}.group table{min-width:"
	"min(22rem,100%)}\n"
	"figure{margin:.6rem 0;max-width:37rem}\n"
	"figcaption{font-weight:600;margin-bottom:.2rem}\n"
	"figcaption small{display:block;font-weight:400}\n"
	"svg.plot{display:block;width:100%;height:auto}\n"
	"svg text{font:13px system-ui,sans-serif;fill:var(--fg)}\n"
	"svg text{paint-order:stroke;stroke:var(--bg);stroke-width:3px;"
	"stroke-linejoin:round}svg text.in,svg text.on{stroke:none}\n"
	"svg .dim{fill:var(--dim)}svg .e{text-anchor:end}"
	"svg .m{text-anchor:middle}svg .b{font-weight:700}\n"
	"svg .grid{stroke:var(--line);stroke-width:1}\n"
	"svg .axis{stroke:var(--dim);stroke-width:1}\n"
	"ul.keys{list-style:none;padding:0;display:flex;flex-wrap:wrap;"
	"gap:.1rem 1.2rem;font-size:.9rem}\n"
	"ul.keys svg{width:3.6rem;height:1rem;vertical-align:-.15rem}\n",
	".c0{--c:var(--c0)}.c1{--c:var(--c1)}.c2{--c:var(--c2)}"
	".c3{--c:var(--c3)}.c4{--c:var(--c4)}.c5{--c:var(--c5)}\n"
	"svg .line{fill:none;stroke:var(--c);stroke-width:2;"
	"stroke-linejoin:round}\n"
	"svg .lead{fill:none;stroke:var(--c);stroke-width:.7}\n"
	"svg .mark{fill:var(--bg);stroke:var(--c);stroke-width:1.6}\n"
	"svg text.name{fill:var(--c)}\n"
	"svg .held{fill:var(--c0)}\n"
	"svg .shared{fill:var(--bg);stroke:var(--c0);stroke-width:2}\n"
	"svg text.in{fill:var(--bg);font-size:12px}\n"
	"svg text.on{fill:var(--c0);font-size:12px}\n"
	"svg .fault{fill:var(--fault)}\n"
	"svg .edge{stroke:var(--dim);stroke-dasharray:2 3}\n"
	"svg .both{fill:url(#hatch);stroke:var(--red);stroke-width:1.5}\n"
	"svg .veil{fill:var(--red);opacity:.14}\n"
	"svg .hatch{stroke:var(--red);stroke-width:3}\n"
	"svg text.red{fill:var(--red);font-weight:700}\n"
	"svg .tick{stroke:var(--fg);stroke-width:2}\n"
	"svg .cross{stroke:var(--red);stroke-width:3}\n"
	"svg .bar{fill:var(--c0)}svg .whisk{stroke:var(--fg);"
	"stroke-width:1.5}\n"
	"svg .halo{stroke:var(--bg);stroke-width:5}\n"
	"svg .lease{stroke:var(--fg);stroke-width:1.5;"
	"stroke-dasharray:4 3}\n",
	"@media (max-width:600px){body{padding:.7rem;font-size:15px}"
	"svg text{font-size:14px}svg text.in,svg text.on{font-size:13px}"
	"dl.run{grid-template-columns:max-content 1fr;gap:.1rem .7rem}"
	"th,td{padding:.25rem .4rem}table{font-size:.87rem}}\n"
	"@page{margin:11mm}\n"
	"@media print{body{max-width:none;padding:0;font-size:10.5pt}"
	"nav{display:none}h2,h3,h2+p,h3+p{break-after:avoid}"
	"tr,figure{break-inside:avoid}a{color:inherit}"
	".wide{overflow:visible}table{font-size:8.5pt}"
	"th,td{padding:.15rem .3rem}th[scope=row],td code,td.w,"
	"table.matrix td{min-width:0}table.matrix{font-size:7pt}"
	"table.matrix th,table.matrix td{padding:.1rem .15rem}"
	"table.matrix th[scope=row]{position:static;min-width:5rem;"
	"overflow-wrap:normal}"
	".plots{grid-template-columns:1fr 1fr}"
	/* Names break at hyphens only, and words that belong together stay
	 * together. */
	"th[scope=row],table.matrix th[scope=col]{overflow-wrap:break-word}"
	".group,table.full{break-inside:avoid}tr.part{break-after:avoid}"
	"details:not([open]){display:none}}\n",
};

void lab_html_style(struct lab_sheet *s)
{
	lab_put_raw(s, "<style>\n");
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		lab_put_raw(s, rules[i]);
	lab_put_raw(s, "</style>\n");
}
