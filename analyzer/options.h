/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: one table of commands, one of options.  Parsing, usage texts, the man page and
 * shell completion are all made from them (usage.h, completion in cmd_completion.c).
 *
 * Threads: the main thread.
 */
#ifndef GA_OPTIONS_H
#define GA_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/xalloc.h"

/* Exit codes of the program; `run` and `dryrun` pass on those of the recorded program. */
enum ga_exit {
	GA_EXIT_OK = 0,
	GA_EXIT_FAILED = 1,
	GA_EXIT_USAGE = 2,
	GA_EXIT_DAMAGED = 3,
	GA_EXIT_CROSSED = 4,
	GA_EXIT_INCONCLUSIVE = 5,
};

/*
 * C(name, arguments, summary, text): ga_cmd_<name>() runs it.  `text` is what `gpushim help NAME`
 * says below the usage line; lines are filled by the reader, an empty line starts a paragraph.
 */
#define GA_COMMANDS(C) \
	C(report, "TRACE...", "what matters of a recording on one screen, verdict first", \
	    "Prints whether the program ran out of memory, the peaks of each device against " \
	    "its size, memory over time, what was done on the device, and everything that " \
	    "limits the recording.") \
	C(info, "TRACE...", "what was recorded, on what, and what was lost", \
	    "Prints program, versions, devices and settings, counts of events, and notices: " \
	    "everything that limits what can be said from this recording.\n\nCounted are " \
	    "successful driver calls: launches (captured ones included; graph launches and " \
	    "device records are counted apart), copies and memsets of more than 0 bytes (one " \
	    "per entry of a batch call), calls that wait for the device.") \
	C(check, "TRACE...", "is the file whole: verifies every checksum", \
	    "Reads the whole file. Exit status 0: whole, also when the process was killed " \
	    "before it could end the recording. 3: not whole: damaged, then it says at which " \
	    "offset and how much can still be read, or without its journal. 1: not a " \
	    "trace.\n\nWhat a killed process recorded last is in " \
	    "NAME.gst.journal. run and dryrun put it into the trace when the program has " \
	    "ended and remove it; a journal that is still there belongs to the trace: copy " \
	    "both.") \
	C(memory, "TRACE...", "peak, course over time and end of each device's memory", \
	    "Figures are those of PyTorch's own statistics: allocated is what its caching " \
	    "allocator handed out, reserved is what the allocator holds from the driver. With " \
	    "the cudaMallocAsync back end or without caching the driver's allocation is the " \
	    "block.\n\nnon_torch_bytes is device memory that the process allocated outside the " \
	    "caching allocator, at the instant of the peak. Memory that the driver itself uses " \
	    "(context, modules) makes no call and is not in it.") \
	C(fragmentation, "TRACE...", "where reserved memory goes, what other settings would need", \
	    "Splits the memory that PyTorch's caching allocator reserves at its peak into what " \
	    "was asked for, what rounding added, and what was cached, and replays the " \
	    "recorded requests under other settings of PYTORCH_CUDA_ALLOC_CONF, the variable " \
	    "that every release of PyTorch reads (PYTORCH_ALLOC_CONF only from 2.10 on).\n\n" \
	    "The replay " \
	    "first has to reproduce every segment that was recorded; if it does not, or if " \
	    "events are missing, other settings are not predicted. Predictions are for the " \
	    "same requests in the same order. Where a setting grants a request that was " \
	    "refused, they end: what the program would have asked for then is not recorded.") \
	C(oom, "TRACE...", "every out-of-memory: what was asked for, what was there", \
	    "One entry for each out-of-memory error that reached the program, caught ones " \
	    "included, and for each refused allocation outside the caching allocator. Refusals " \
	    "that the allocator cured by a retry are counted by memory as retries.") \
	C(export, "TRACE", "the events in a format of other programs", \
	    "csv has one row for each event in order of time. chrome is the JSON that " \
	    "chrome://tracing, Perfetto and TensorBoard open.") \
	C(run, "-- PROGRAM [ARGUMENT...]", "record a program on this machine's GPU", \
	    "Starts PROGRAM with the recorder preloaded and exits with its status, 128 plus " \
	    "the signal if it was killed. An LD_PRELOAD of the caller is kept behind the " \
	    "recorder.") \
	C(dryrun, "-- PROGRAM [ARGUMENT...]", \
	    "record a PyTorch program on a stand-in GPU, without any", \
	    "Runs the unmodified program with the CUDA build of PyTorch on a stand-in GPU; no " \
	    "GPU, driver or CUDA installation is needed. What PyTorch's allocator does is " \
	    "real; kernels do nothing, so results and times of the program are not.\n\nAt the " \
	    "end it names functions that the program called but the stand-in does not provide.") \
	C(doctor, "", "can this machine record, and what would not be seen", \
	    "Looks at the recorder, the stand-in GPU, the driver and its devices, PyTorch, " \
	    "CUPTI, permissions and disk space. Exit status 1 if recording would fail.") \
	C(completion, "bash|zsh|fish", "completion of commands and options for a shell", \
	    "Prints a script; e.g. in ~/.bashrc: source <(gpushim completion bash)") \
	C(help, "[COMMAND|environment]", "help on a command or on the recorder's environment", \
	    "help environment lists the variables that set up the recorder.")

enum ga_command {
#define C(name, arguments, summary, text) GA_COMMAND_##name,
	GA_COMMANDS(C)
#undef C
	    GA_COMMAND_COUNT
};

#define GA_ON(name) (1u << GA_COMMAND_##name)
#define GA_ON_ALL ((1u << GA_COMMAND_COUNT) - 1)
#define GA_ON_ANSWERS \
	(GA_ON(report) | GA_ON(info) | GA_ON(check) | GA_ON(memory) | GA_ON(fragmentation) | \
	    GA_ON(oom) | GA_ON(doctor))
#define GA_ON_STARTERS (GA_ON(run) | GA_ON(dryrun))

/*
 * O(id, short name or 0, long name, argument or NULL, commands, help).  An argument that is a list
 * of lower-case words, "a|b|c", allows these words only; SIZE and N are checked to be one.
 */
#define GA_OPTIONS(O) \
	O(HELP, 'h', "help", NULL, GA_ON_ALL, "show the help of the command") \
	O(JSON, 0, "json", NULL, GA_ON_ANSWERS, "print one JSON object, schema gpushim.COMMAND/1") \
	O(COLOR, 0, "color", "auto|always|never", GA_ON_ANSWERS | GA_ON(export), \
	    "colour in text; auto: on a terminal, unless NO_COLOR is set") \
	O(OUTPUT, 'o', "output", "FILE", \
	    GA_ON_ANSWERS | GA_ON(export) | GA_ON(completion) | GA_ON(help), \
	    "write to FILE instead of standard output") \
	O(FAIL_ABOVE, 0, "fail-above", "SIZE", GA_ON(memory), \
	    "exit with 4 if a device's peak of reserved memory is above SIZE, with 5 if that " \
	    "cannot " \
	    "be told because the recording is incomplete") \
	O(TOP, 0, "top", "N", GA_ON(memory) | GA_ON(oom), \
	    "rows of the table of who holds the memory (memory: 12, oom: 8); 0: all") \
	O(STACKS, 0, "stacks", NULL, GA_ON(memory) | GA_ON(oom), \
	    "below that table the whole call stack of each row; oom: also of the request") \
	O(FORMAT, 'f', "format", "csv|chrome", GA_ON(export), "what to write") \
	O(TRACE, 'o', "output", "PATH", GA_ON_STARTERS, \
	    "the trace: a file (an old one becomes FILE.old), or a folder for default names; " \
	    "%p pid, %h host, %r rank, %n program, %t start time") \
	O(SET, 0, "set", "NAME=VALUE", GA_ON_STARTERS, \
	    "a setting of the recorder, e.g. stacks=none; see gpushim help environment") \
	O(GPU, 0, "gpu", "NAME", GA_ON(dryrun), \
	    "stand-in for this GPU model; list: print the models") \
	O(MEMORY, 0, "memory", "SIZE", GA_ON(dryrun), \
	    "memory of the stand-in, all of which can be allocated (24G)") \
	O(CONTEXT, 0, "context", "SIZE", GA_ON(dryrun), \
	    "memory that the driver keeps for itself, in place of the model's figure") \
	O(GPUS, 0, "gpus", "N", GA_ON(dryrun), "number of equal devices (1)") \
	O(CLOCK, 0, "clock", "instant|model|DURATION", GA_ON(dryrun), \
	    "instant: device work takes no time; model: simulated time; 500us: what each " \
	    "kernel takes") \
	O(TIMES, 0, "times", "FILE", GA_ON(dryrun), \
	    "lines `DURATION PATTERN`: what kernels take whose names fit; with --clock model or DURATION") \
	O(NO_RECORD, 0, "no-record", NULL, GA_ON(dryrun), "do not record, only run") \
	O(STATS, 0, "stats", "FILE", GA_ON(dryrun), \
	    "write the stand-in's own counts as JSON at the end") \
	O(EXPLAIN, 0, "explain", NULL, GA_ON(dryrun), \
	    "say on stderr at the end which stand-in libraries answered whom, and why") \
	O(PYTHON, 0, "python", "FILE", GA_ON(doctor), \
	    "the Python whose PyTorch is looked at (python3)") \
	O(MAN, 0, "man", NULL, GA_ON(help), "print the manual page, as for man -l")

enum ga_option {
#define O(id, letter, name, argument, commands, help) GA_OPTION_##id,
	GA_OPTIONS(O)
#undef O
	    GA_OPTION_COUNT
};

/** A command line, taken apart.  Points into argv. */
struct ga_options {
	enum ga_command command;
	const char
	    *values[GA_OPTION_COUNT]; /* argument of the option, "" without one; NULL = not given */
	const char **sets;	      /* every --set in order */
	int set_count;
	char **arguments; /* TRACE..., or PROGRAM and its arguments */
	int argument_count;
};

/** What the tables say of a command or an option. */
struct ga_command_row {
	const char *name, *arguments, *summary, *text;
	int (*run)(const struct ga_options *options);
};
struct ga_option_row {
	char letter;
	const char *name, *argument;
	unsigned commands;
	const char *help;
};
extern const struct ga_command_row ga_command_rows[GA_COMMAND_COUNT];
extern const struct ga_option_row ga_option_rows[GA_OPTION_COUNT];

/**
 * Command of that name.
 *
 * @return its number, GA_COMMAND_COUNT if there is none
 */
enum ga_command ga_command_find(const char *name);

/** The command whose name is nearest to a mistyped one, NULL if none is near. */
const char *ga_command_guess(const char *name);

/**
 * Take `gpushim COMMAND ARGUMENTS` apart.
 *
 * `run` and `dryrun` end their options at the first argument that is none; `--` ends them anywhere.
 *
 * @param command      the command; argv begins behind its name
 * @param options_out  set only on success; free with ga_options_free
 * @return NULL, or what is wrong; free() it
 */
char *ga_options_parse(
    enum ga_command command, int argc, char **argv, struct ga_options *options_out);
void ga_options_free(struct ga_options *options);

/** Value of an option whose argument is SIZE or N; `otherwise` if it was not given. */
uint64_t ga_option_size(
    const struct ga_options *options, enum ga_option id, uint64_t otherwise);

static inline bool ga_option_given(const struct ga_options *options, enum ga_option id)
{
	return options->values[id] != 0;
}

#define C(name, arguments, summary, text) int ga_cmd_##name(const struct ga_options *options);
GA_COMMANDS(C)
#undef C

#endif
