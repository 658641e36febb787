/* SPDX-License-Identifier: Apache-2.0 */
/*
 * File systems whose locks other hosts may not see, by the f_type of statfs(2).
 * Pure, and in a header, so that a test needs to mount no such file system.
 */
#ifndef DLOCK_BACKENDS_FILE_MAGIC_H
#define DLOCK_BACKENDS_FILE_MAGIC_H

#include <stddef.h>
#include <stdint.h>

/* Return the name of a remote file system, or NULL for a file system whose
 * locks are this kernel's alone. */
static inline const char *file_remote_fs(uint32_t magic)
{
	static const struct {
		uint32_t magic;
		const char *name;
	} remote[] = {
		{ 0x00006969u, "NFS" },
		{ 0x0000517Bu, "SMB" },
		{ 0xFF534D42u, "CIFS" },
		{ 0xFE534D42u, "SMB2" },
		{ 0x65735546u, "FUSE" },
		{ 0x5346414Fu, "AFS" },
		{ 0x6B414653u, "AFS" },
		{ 0x01021997u, "9P" },
		{ 0x00C36400u, "Ceph" },
		{ 0x73757245u, "Coda" },
		{ 0x0000564Cu, "NCP" },
		{ 0x01161970u, "GFS2" },
		{ 0x7461636Fu, "OCFS2" },
		{ 0x0BD00BD0u, "Lustre" },
		{ 0x47504653u, "GPFS" },
		{ 0x20030528u, "OrangeFS" },
		{ 0x19830326u, "BeeGFS" },
		{ 0xAAD7AAEAu, "PanFS" },
		{ 0x786F4256u, "VirtualBox shared folder" },
		{ 0xBACBACBCu, "VMware shared folder" },
	};
	size_t i;

	for (i = 0; i < sizeof(remote) / sizeof(remote[0]); i++) {
		if (remote[i].magic == magic)
			return remote[i].name;
	}
	return NULL;
}

#endif
