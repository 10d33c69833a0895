#!/bin/sh
# Threads that come back to a Python that has ended do not abort a program on the stand-in GPU.
# Environment: O, CXX, PYTHON.
. "$(dirname "$0")/stand_in/rig.sh"
: "${CXX:=c++}" "${PYTHON:=python3}"
tool=$O/bin/gpushim
command -v "$CXX" >/dev/null || { echo "1..0 # skipped: no C++ compiler" && exit 77; }
same() { # TEXT GOT WANTED
	number=$((number + 1))
	[ "$2" = "$3" ] && echo "ok $number - $1" && return
	failed=1
	echo "not ok $number - $1"
	echo "# $2, not $3"
}

# As autograd does it: a destructor, which nothing may leave by unwinding, wants the interpreter.
"$CXX" -shared -fPIC -x c++ -o "$work/late.so" - <<'END'
#include <unistd.h>
extern "C" int PyGILState_Ensure(void) __attribute__((weak));
extern "C" void late(void) noexcept
{
	usleep(300000);
	PyGILState_Ensure();
}
END
cat >"$work/late.py" <<'END'
import ctypes, sys, threading, time
class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.6)  # Python has begun to end
slow = Slow()
late = ctypes.CDLL(sys.argv[1])
threading.Thread(target=late.late, daemon=True).start()
time.sleep(0.1)
sys.exit(5)
END
cat >"$work/thread.c" <<'END'
#include <pthread.h>
static void *end(void *value) { pthread_exit(value); }
int main(void)
{
	pthread_t thread;
	int number;
	void *value;
	pthread_create(&thread, NULL, end, &number);
	return pthread_join(thread, &value) == 0 && value == &number ? 3 : 4;
}
END
${CC:-cc} -o "$work/thread" "$work/thread.c" -lpthread

plain=0
"$PYTHON" "$work/late.py" "$work/late.so" 2>/dev/null || plain=$?
[ $plain = 5 ] && echo "# this Python does not end such threads itself"
timeout 20 "$tool" dryrun --no-record -- "$PYTHON" "$work/late.py" "$work/late.so" 2>"$work/errors"
same "a thread that comes too late waits for the end" $? 5
timeout 20 "$tool" dryrun --no-record -- "$work/thread"
same "a thread of the program ends as ever" $? 3
end
