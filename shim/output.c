/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "formats/frame.h"
#include "shim/environment.h"
#include "shim/log.h"
#include "shim/properties.h"
#include "shim/settings.h"

#define GS_DEFAULT_NAME "gpushim-%n-%p.gst"
#define GS_SUFFIX ".gst"
#define GS_SAME_NAME_LIMIT 10000
#define GS_CHUNKS_FIRST 8     /* the first event waits for them; the helper adds more at once */
#define GS_CHUNKS_LIMIT 4096  /* 256 MiB of address space; less where that is scarce */
#define GS_CHUNKS_LEAST 64

/* ---- names ---- */

static void gs_name_part(struct gs_line *line, char letter)
{
	char text[256] = "";
	struct gs_line part;
	gs_line_start(&part, text, sizeof(text));
	switch (letter) {
	case 'p':
		gs_line_number(&part, (uint64_t)getpid(), 10, 1);
		break;
	case 'h':
		if (gethostname(text, sizeof(text) - 1) != 0)
			strcpy(text, "unknown");
		break;
	case 'r':
		gs_line_text(&part, gs_rank() ? gs_rank() : "0");
		break;
	case 'n':
		gs_program_name(&part);
		break;
	case 't': {
		time_t now = time(NULL);
		struct tm t;
		gmtime_r(&now, &t); /* localtime may lock and read files */
		gs_line_number(&part, (uint64_t)(t.tm_year + 1900), 10, 4);
		gs_line_number(&part, (uint64_t)(t.tm_mon + 1), 10, 2);
		gs_line_number(&part, (uint64_t)t.tm_mday, 10, 2);
		gs_line_text(&part, "-");
		gs_line_number(&part, (uint64_t)t.tm_hour, 10, 2);
		gs_line_number(&part, (uint64_t)t.tm_min, 10, 2);
		gs_line_number(&part, (uint64_t)t.tm_sec, 10, 2);
		break;
	}
	case '%':
		gs_line_text(&part, "%");
		break;
	default:
		gs_line_format(&part, "%%%c", letter);
	}
	for (char *at = text; *at; at++) /* what is put in stays in the folder that was asked for */
		if (*at == '/')
			*at = '_';
	gs_line_text(line, text);
}

static void gs_name_expand(struct gs_line *line, const char *pattern)
{
	for (; *pattern; pattern++) {
		if (pattern[0] == '%' && pattern[1]) {
			pattern++;
			gs_name_part(line, *pattern);
		} else {
			gs_line_bytes(line, pattern, 1);
		}
	}
}

static bool gs_is_folder(const char *path)
{
	struct stat s;
	return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* A device, pipe or socket. */
static bool gs_is_special(const char *path)
{
	struct stat s;
	return stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

static bool gs_ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);
	return length >= tail && strcmp(text + length - tail, end) == 0;
}

bool gs_output_name(struct gs_line *line, const char *pattern)
{
	if (pattern[0] != '/') {
		char folder[GS_PATH_BYTES];
		if (getcwd(folder, sizeof(folder))) {
			gs_line_text(line, folder);
			gs_line_text(line, "/");
		}
		while (pattern[0] == '.' && pattern[1] == '/')
			pattern += 2;
	}
	gs_name_expand(line, pattern);
	if (gs_ends_in(line->bytes, "/") || gs_is_folder(line->bytes)) {
		if (!gs_ends_in(line->bytes, "/"))
			gs_line_text(line, "/");
		gs_name_expand(line, GS_DEFAULT_NAME);
	}
	if (gs_is_special(line->bytes))
		return false;
	if (!gs_ends_in(line->bytes, GS_SUFFIX))
		gs_line_text(line, GS_SUFFIX);
	return !gs_is_special(line->bytes);
}

/* The folders above a file, as far as they are missing. */
static void gs_make_folders(const char *path)
{
	char folder[GS_PATH_BYTES];
	for (size_t i = 1; path[i] && i < sizeof(folder); i++) {
		if (path[i] != '/')
			continue;
		memcpy(folder, path, i);
		folder[i] = 0;
		mkdir(folder, 0777);
	}
}

/* ---- files ---- */

bool gs_output_is_remote(uint64_t type)
{
	static const uint32_t remote[] = {
	    0x6969,     /* NFS */
	    0x517b,     /* SMB */
	    0xff534d42, /* CIFS */
	    0xfe534d42, /* SMB 2 */
	    0x0bd00bd0, /* Lustre */
	    0x47504653, /* GPFS */
	    0x00c36400, /* Ceph */
	    0x5346414f, /* AFS */
	    0x01021997, /* 9P */
	    0x65735546, /* FUSE: sshfs, cluster and cloud file systems */
	    0x19830326, /* BeeGFS */
	};
	for (unsigned i = 0; i < sizeof(remote) / sizeof(remote[0]); i++)
		if ((uint32_t)type == remote[i])
			return true;
	return false;
}

static void gs_folder_of(const char *path, char folder[GS_PATH_BYTES])
{
	const char *slash = strrchr(path, '/');
	size_t length = slash && slash != path ? (size_t)(slash - path) : 1;
	memcpy(folder, slash ? path : ".", length);
	folder[length] = 0;
}

/* A mapped file on another machine may stall or fault: its journal goes to a local folder, and a
 * link beside the trace leads readers to it. */
static void gs_journal_place(struct gs_output *out)
{
	struct statfs s;
	struct gs_line line;
	char folder[GS_PATH_BYTES];
	gs_folder_of(out->path, folder);
	gs_line_start(&line, out->journal_path, sizeof(out->journal_path));
	out->journal_elsewhere =
	    statfs(folder, &s) == 0 && gs_output_is_remote((uint64_t)s.f_type);
	if (!out->journal_elsewhere) {
		gs_line_format(&line, "%s%s", out->path, GF_JOURNAL_SUFFIX);
		return;
	}
	const char *local = gs_environment_get("TMPDIR");
	if (!local || local[0] != '/' || statfs(local, &s) != 0 ||
	    gs_output_is_remote((uint64_t)s.f_type))
		local = "/dev/shm";
	const char *slash = strrchr(out->path, '/');
	gs_line_format(&line, "%s/%s.%lx%s", local, slash ? slash + 1 : out->path,
	    (unsigned long)out->trace_id[0], GF_JOURNAL_SUFFIX);
}

static void gs_journal_link_path(const struct gs_output *out, char path[GS_PATH_BYTES])
{
	struct gs_line line;
	gs_line_start(&line, path, GS_PATH_BYTES);
	gs_line_format(&line, "%s%s", out->path, GF_JOURNAL_SUFFIX);
}

static void gs_journal_link(const struct gs_output *out)
{
	char path[GS_PATH_BYTES];
	gs_journal_link_path(out, path);
	if (symlink(out->journal_path, path) != 0)
		gs_log(GS_LOG_WARN, "cannot link %s to its journal %s: %s; should the process be "
		    "killed, copy the journal there", out->path, out->journal_path,
		    gf_errno_words(errno));
}

static void gs_journal_folder_hold(struct gs_output *out)
{
	char folder[GS_PATH_BYTES];
	gs_folder_of(out->journal_path, folder);
	gf_held_take(&out->journal_folder, open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
}

void gs_output_forget(struct gs_output *out)
{
	gf_held_take(&out->file, -1);
	gf_held_take(&out->journal_folder, -1);
}

void gs_output_close(struct gs_output *out)
{
	gf_held_close(&out->file);
	gf_held_close(&out->journal_folder);
}

void gs_output_remove_journal(const struct gs_output *out)
{
	char path[GS_PATH_BYTES];
	bool held = gf_held_ours(&out->journal_folder);
	int folder = held ? out->journal_folder.fd : AT_FDCWD;
	const char *name = held ? strrchr(out->journal_path, '/') + 1 : out->journal_path;
	struct stat s;
	if (fstatat(folder, name, &s, AT_SYMLINK_NOFOLLOW) != 0 || s.st_dev != out->journal_device ||
	    s.st_ino != out->journal_inode)
		return;
	unlinkat(folder, name, 0);
	if (!out->journal_elsewhere)
		return;
	char target[GS_PATH_BYTES];
	gs_journal_link_path(out, path);
	ssize_t length = readlink(path, target, sizeof(target));
	if (length == (ssize_t)strlen(out->journal_path) &&
	    memcmp(target, out->journal_path, (size_t)length) == 0)
		unlink(path);
}

/* Where the program's address space is limited an eighth of what it has left is ours. */
static uint32_t gs_chunks_room(void)
{
	struct rlimit space;
	char text[64] = "";
	if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY)
		return GS_CHUNKS_LIMIT;
	int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	if (file >= 0 && read(file, text, sizeof(text) - 1) < 0)
		text[0] = 0;
	if (file >= 0)
		close(file);
	uint64_t used = strtoull(text, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t chunks = used < space.rlim_cur ? (space.rlim_cur - used) / 8 / GF_CHUNK_BYTES : 0;
	if (chunks < GS_CHUNKS_LEAST)
		return GS_CHUNKS_LEAST;
	return chunks < GS_CHUNKS_LIMIT ? (uint32_t)chunks : GS_CHUNKS_LIMIT;
}

static enum gf_status gs_journal_open(struct gs_output *out, struct gf_journal *journal_out,
    struct gf_error *error)
{
	enum gf_status status;
	uint32_t limit = gs_chunks_room();
	do {
		status = gf_journal_create(journal_out, out->journal_path, limit, GS_CHUNKS_FIRST,
		    out->trace_id, error);
		limit /= 4;
	} while (status && limit >= GS_CHUNKS_LEAST && access(out->journal_path, F_OK) != 0);
	out->journal_device = status ? 0 : journal_out->file.device;
	out->journal_inode = status ? 0 : journal_out->file.inode;
	return status;
}

/* A file without a name in the folder of the trace, or -1 where the file system has no such thing. */
static int gs_nameless_open(const char *path)
{
	char folder[GS_PATH_BYTES];
	gs_folder_of(path, folder);
	return open(folder, O_WRONLY | O_TMPFILE | O_CLOEXEC, 0644);
}

static int gs_nameless_link(int fd, const char *path)
{
	char link[64];
	struct gs_line line;
	gs_line_start(&line, link, sizeof(link));
	gs_line_format(&line, "/proc/self/fd/%d", fd);
	return linkat(AT_FDCWD, link, AT_FDCWD, path, AT_SYMLINK_FOLLOW);
}

/*
 * A trace file is never seen empty: it gets its name once it has its header, where the file system
 * can do that.  Sets out->file; returns an errno.
 */
static int gs_trace_create(struct gs_output *out)
{
	unsigned char header[GF_TRACE_HEADER_BYTES];
	int cause = 0;
	gf_trace_header(header, out->trace_id);
	gf_held_take(&out->file, gs_nameless_open(out->path));
	if (out->file.fd >= 0 && !(cause = gs_output_append(out, header, sizeof(header))) &&
	    gs_nameless_link(out->file.fd, out->path) == 0)
		return 0;
	bool taken = out->file.fd >= 0 && !cause && errno == EEXIST;
	gf_held_close(&out->file);
	out->bytes = 0;
	if (taken || cause)
		return taken ? EEXIST : cause;
	int fd = open(out->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, 0644);
	if (fd < 0)
		return errno;
	gf_held_take(&out->file, fd);
	cause = gs_output_append(out, header, sizeof(header));
	if (cause) {
		unlink(out->path);
		gf_held_close(&out->file);
	}
	return cause;
}

/* The journal first, so that a trace never stands without the place where its events are.  Returns
 * an errno; EEXIST: somebody else took the name meanwhile. */
static int gs_pair_create(struct gs_output *out, struct gf_journal *journal_out,
    struct gf_error *error)
{
	gs_journal_place(out);
	if (gs_journal_open(out, journal_out, error))
		return access(out->journal_path, F_OK) == 0 ? EEXIST : EIO;
	if (out->journal_elsewhere)
		gs_journal_link(out);
	int cause = gs_trace_create(out);
	if (!cause)
		return 0;
	gf_fail(error, GF_IO, UINT64_MAX, "cannot create the trace %s: %s", out->path,
	    gf_errno_words(cause));
	gf_journal_close(journal_out, NULL);
	gs_output_remove_journal(out);
	return cause;
}

/* Creates `name`, `name-2`, ...; a journal without its trace takes a name too. */
static bool gs_pair_open(struct gs_output *out, struct gf_journal *journal_out, const char *name,
    struct gf_error *error)
{
	size_t stem = strlen(name) - strlen(GS_SUFFIX);
	for (unsigned i = 1; i <= GS_SAME_NAME_LIMIT; i++) {
		struct gs_line line, journal;
		char orphan[GS_PATH_BYTES];
		gs_line_start(&line, out->path, sizeof(out->path));
		gs_line_bytes(&line, name, stem);
		if (i > 1)
			gs_line_format(&line, "-%u", i);
		gs_line_text(&line, GS_SUFFIX);
		gs_line_start(&journal, orphan, sizeof(orphan));
		gs_line_format(&journal, "%s%s", out->path, GF_JOURNAL_SUFFIX);
		if (line.cut || journal.cut)
			break;
		if (access(orphan, F_OK) == 0 || access(out->path, F_OK) == 0)
			continue;
		int cause = gs_pair_create(out, journal_out, error);
		if (cause != EEXIST)
			return cause == 0;
	}
	gf_fail(error, GF_IO, UINT64_MAX, "no free name like %s, or it is too long", name);
	return false;
}

/* One line of the list, whatever is in the name: \012 and \134 for newline and backslash. */
static void gs_list_line(struct gs_line *line, const char *path)
{
	for (; *path; path++) {
		if (*path == '\n' || *path == '\\')
			gs_line_text(line, *path == '\n' ? "\\012" : "\\134");
		else
			gs_line_bytes(line, path, 1);
	}
	gs_line_text(line, "\n");
}

/* @param refused  there is no such trace */
static void gs_trace_list(const char *path, bool refused)
{
	const char *list = gs_settings_text(GS_SETTING_trace_list);
	if (!list[0])
		return;
	char text[4 * GS_PATH_BYTES]; /* should every byte of the name take four */
	struct gs_line line;
	gs_line_start(&line, text, sizeof(text));
	if (refused)
		gs_line_format(&line, "%c", GF_LIST_REFUSED);
	gs_list_line(&line, path);
	int fd = open(list, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0644);
	if (fd < 0 || write(fd, text, line.length) != (ssize_t)line.length)
		gs_log(GS_LOG_WARN, "cannot write to GPUSHIM_TRACE_LIST=%s: errno %d", list, errno);
	if (fd >= 0)
		close(fd);
}

static void gs_trace_identity(struct gs_output *out)
{
	if (getrandom(out->trace_id, sizeof(out->trace_id), GRND_NONBLOCK) ==
	    sizeof(out->trace_id))
		return;
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	out->trace_id[0] = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
	out->trace_id[1] = (uint64_t)getpid() << 32 ^ (uint64_t)(uintptr_t)out;
}

bool gs_output_open(struct gs_output *out, struct gf_journal *journal_out)
{
	char name[GS_PATH_BYTES];
	struct gs_line line;
	gs_line_start(&line, name, sizeof(name));
	gs_output_forget(out);
	if (!gs_output_name(&line, gs_settings_text(GS_SETTING_output))) {
		gs_log(GS_LOG_ERROR, "GPUSHIM_OUTPUT: %s is a device or a pipe, and a trace needs a file; "
		    "nothing is recorded", name);
		gs_trace_list(name, true);
		return false;
	}
	gs_make_folders(name);
	out->bytes = 0;
	gs_trace_identity(out);
	struct gf_error error;
	if (gs_pair_open(out, journal_out, name, &error)) {
		gs_trace_list(out->path, false);
		gs_journal_folder_hold(out);
		return true;
	}
	gs_log(GS_LOG_ERROR, "%s; nothing is recorded", error.text);
	gs_trace_list(name, true);
	return false;
}

int gs_output_append(struct gs_output *out, const void *bytes, size_t count)
{
	int cause = gf_held_regain(&out->file, out->path, O_WRONLY);
	for (size_t done = 0; !cause && done < count;) {
		ssize_t written = pwrite(out->file.fd, (const char *)bytes + done, count - done,
		    (off_t)(out->bytes + done));
		if (written < 0 && errno == EINTR)
			continue;
		if (written <= 0) {
			cause = written < 0 ? errno : EIO;
			if (ftruncate(out->file.fd, (off_t)out->bytes) != 0)
				break; /* a cut frame at the end is skipped by readers */
			break;
		}
		done += (size_t)written;
	}
	out->bytes += cause ? 0 : count;
	return cause;
}
