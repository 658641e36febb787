/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instead of libFuzzer: run the entry point once for each named file, and for
 * each file of a named directory.  Without a file the program fails.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define INPUT_MAX (1 << 21)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t ran;

static int run_file(const char *path)
{
	FILE *file = fopen(path, "rbe");
	uint8_t *data = malloc(INPUT_MAX);
	size_t size = 0;
	int rc = -1;

	if (file && data) {
		size = fread(data, 1, INPUT_MAX, file);
		rc = ferror(file) ? -1 : 0;
	}
	if (rc == 0) {
		/* A read behind the block is found. */
		uint8_t *exact = malloc(size ? size : 1);

		if (exact) {
			memcpy(exact, data, size);
			LLVMFuzzerTestOneInput(exact, size);
			ran++;
		}
		free(exact);
	} else {
		perror(path);
	}
	if (file)
		fclose(file);
	free(data);
	return rc;
}

static int run_directory(const char *path)
{
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort);
	int rc = n < 0 ? -1 : 0;

	if (n < 0)
		perror(path);
	for (int i = 0; i < n; i++) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
		if (entries[i]->d_name[0] != '.' && run_file(file) < 0)
			rc = -1;
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return rc;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++) {
		struct stat st;
		int is_dir = stat(argv[i], &st) == 0 && S_ISDIR(st.st_mode);
		int rc = is_dir ? run_directory(argv[i]) : run_file(argv[i]);

		failed |= rc < 0;
	}
	printf("%zu inputs\n", ran);
	return failed || ran == 0;
}
