/* SPDX-License-Identifier: Apache-2.0 */
#include "backends/file/sweep.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/file/bytes.h"
#include "backends/file/dir.h"
#include "backends/file/file.h"
#include "backends/file/floor.h"
#include "backends/file/name.h"
#include "backends/file/share.h"
#include "backends/file/state.h"

#define FLOOR_NS (10 * DLK_MS)

/* Must the file stay?  Because another program made the file, or because the
 * tokens are far ahead of the clock, as all later tokens would be.  Else *last
 * is the last token; 0: a full disk had no room for the first token. */
static int stays(const struct file_name *n, uint64_t *last)
{
	struct file_header h;
	struct file_state st;
	struct stat is;

	*last = 0;
	if (fstat(n->inode_fd, &is) < 0 ||
	    !dlki_file_share_removes(n->session, &is) ||
	    !dlki_file_share_fits(n->session, &is))
		return 1;
	if (is.st_size == 0)
		return 0;
	if (dlki_file_load(n->inode_fd, DLK_LOCK, NULL, &h, &st) != FILE_GOOD ||
	    st.last > dlki_file_time() + DLK_TOKENS_AHEAD)
		return 1;
	*last = st.last;
	return 0;
}

/* Remove the file; the floor and all bytes are locked. */
static void remove_file(const struct file_name *n, int floor)
{
	uint64_t last;

	if (!stays(n, &last) &&
	    dlki_file_stands(AT_FDCWD, n->path, n->dev, n->ino) == 1 &&
	    dlki_file_floor_raise(n->session, floor, last) == 0)
		(void)unlink(n->path);
}

void dlki_file_sweep(const struct file_name *n)
{
	struct file_session *s = n->session;
	struct dlk_error err;
	uint64_t last;
	int floor;

	if (!n->opened || n->stale || s->keep_files || s->remote_ok ||
	    dlki_file_probe(n->inode_fd, F_WRLCK, 0, 0) != F_UNLCK ||
	    stays(n, &last))
		return;
	floor = dlki_file_floor_lock(s, dlk_now() + FLOOR_NS, &err);
	if (floor < 0)
		return;
	if (dlki_file_lock_all(n->inode_fd) == 1) {
		remove_file(n, floor);
		dlki_file_unlock_all(n->inode_fd);
	}
	dlki_file_floor_unlock(floor);
}
