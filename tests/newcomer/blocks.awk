# SPDX-License-Identifier: Apache-2.0
# blocks.awk -v page=NAME -v dir=DIR -v n=FIRST - write each block of code of a
# page to DIR/NUMBER, and a line about it to standard output:
#     NUMBER <tab> page <tab> heading <tab> language <tab> first line
#
# In Markdown: what is fenced, and what is indented after an empty line and not
# part of a list.  In a manual page: the displays of EXAMPLES.

function put(line) {
	if (!open) {
		open = 1
		n++
		file = sprintf("%s/%03d", dir, n)
		printf "%03d\t%s\t%s\t%s\t%s\n", n, page, heading, language ? language : "sh", line
	}
	# An empty line is part of a block if more of it follows.
	while (empty > 0) {
		print "" > file
		empty--
	}
	print line > file
}

function shut() {
	if (open)
		close(file)
	open = empty = 0
}

function unescaped(line) {
	gsub(/\\-/, "-", line)
	gsub(/\\&/, "", line)
	gsub(/\\e/, "\\", line)
	return line
}

page ~ /\.[1-8]$/ {
	if (/^\.Sh /) {
		here = /EXAMPLES/
		heading = "EXAMPLES"
	} else if (here && /^\.Bd -literal/) {
		literal = 1
	} else if (/^\.Ed/) {
		literal = 0
		shut()
	} else if (here && literal) {
		put(unescaped($0))
	} else if (here && /^\.Dl /) {
		put(unescaped(substr($0, 5)))
	} else {
		shut()
	}
	next
}

/^```/ {
	fenced = !fenced
	shut()
	language = fenced ? (substr($0, 4) ? substr($0, 4) : "none") : ""
	next
}

fenced {
	if ($0 == "")
		empty++
	else
		put($0)
	next
}

/^#+ / {
	heading = $0
	sub(/^#+ /, "", heading)
}

/^    / && (open || (before == "" && !list)) {
	put(substr($0, 5))
	next
}

{
	if ($0 == "" && open) {
		empty++
	} else {
		shut()
		if ($0 ~ /^([-*]|[0-9]+\.) /)
			list = 1
		else if (before == "" && $0 ~ /^[^ ]/)
			list = 0
	}
	before = $0
}
