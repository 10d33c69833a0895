/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a fuzz target over its corpus, without a fuzzer: TAP on stdout.
 *
 * Usage: PROGRAM [FOLDER|FILE ...]; by default tests/fuzz/corpus/<name of the program>.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SECONDS_EACH 60

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count, failures;

static int run_input(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat stat;
	if (!file || fstat(fileno(file), &stat) != 0)
		return 1;
	size_t bytes = (size_t)stat.st_size;
	uint8_t *data = malloc(bytes + !bytes); /* exact, for the sanitizer */
	int failed = !data || fread(data, 1, bytes, file) != bytes;
	fclose(file);
	if (!failed)
		LLVMFuzzerTestOneInput(data, bytes);
	free(data);
	return failed;
}

static void run_file(const char *path)
{
	int status = -1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		alarm(SECONDS_EACH);
		exit(run_input(path));
	}
	if (child > 0)
		waitpid(child, &status, 0);
	failures += status != 0;
	printf("%sok %d - %s\n", status ? "not " : "", ++count, path);
}

static int wanted(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void run_path(const char *path)
{
	struct dirent **entries;
	int found = scandir(path, &entries, wanted, alphasort);
	if (found < 0)
		run_file(path);
	for (int i = 0; i < found; i++) {
		char name[4096];
		snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
		run_path(name);
		free(entries[i]);
	}
	if (found >= 0)
		free(entries);
}

int main(int argc, char **argv)
{
	char corpus[4096];
	const char *name = strrchr(argv[0], '/');
	snprintf(corpus, sizeof(corpus), "tests/fuzz/corpus/%s", name ? name + 1 : argv[0]);
	for (int i = 1; i < argc; i++)
		run_path(argv[i]);
	if (argc < 2)
		run_path(corpus);
	printf("1..%d\n", count);
	return failures != 0 || count == 0;
}
