"""Raw Python stacks against the interpreter's own traceback, for one interpreter.

usage: check_stacks.py stack_probe.so FOLDER [cost]

Prints TAP without numbers.  Works from Python 3.8 on and needs nothing but the standard library; with
greenlet installed it is tried too.  `cost` prints what a stack costs instead.
"""
import ctypes
import gc
import os
import platform
import shutil
import subprocess
import sys
import threading
import traceback

probe = ctypes.CDLL(sys.argv[1])
folder = sys.argv[2]
probe.probe_text.argtypes = [ctypes.c_uint, ctypes.c_char_p, ctypes.c_size_t]
probe.probe_text.restype = ctypes.c_size_t
probe.probe_trouble.restype = ctypes.c_char_p
probe.probe_cost.restype = ctypes.c_double
probe.probe_module.restype = ctypes.c_uint64
PYTHON, NATIVE = 1, 2
LIMIT = 400  # frames that are kept
version = "%d.%d" % sys.version_info[:2]
if getattr(sys, "_is_gil_enabled", None) and not sys._is_gil_enabled():
    version += "t"
if os.environ.get("LD_PRELOAD"):
    version += ", old C library"


def tell(name, good, note=""):
    print("%s - %s: %s%s" % ("ok" if good else "not ok", version, name, " # " + note if note else ""), flush=True)


def frames(stack):
    buffer = ctypes.create_string_buffer(4 << 20)
    length = probe.probe_text(stack, buffer, len(buffer))
    return [line.rsplit(" ", 1) for line in buffer.raw[:length].decode().splitlines()]


def counts(stack):
    out = (ctypes.c_uint * 5)()
    probe.probe_counts(stack, out)
    return dict(zip(("python", "native", "entries", "modules", "flags"), out))


def here():
    """Stack of the caller, raw and by the interpreter: both from the same line each."""
    stack, expected = probe.probe_take(), sys._getframe()
    wanted = []
    while expected is not None:
        wanted.append("%s:%s" % (expected.f_code.co_filename, expected.f_lineno or 0))
        expected = expected.f_back
    got = [frame[0] for frame in frames(stack)]
    return stack, got[1:], wanted[1:LIMIT]


def same(name, result):
    stack, got, wanted = result
    if got != wanted:
        for pair in list(zip(got + [None] * len(wanted), wanted))[:6]:
            print("# got %s, not %s" % pair)
    tell(name, got == wanted and len(got) > 0)


def recursion(depth):
    return recursion(depth - 1) if depth else here()


def generator(depth):
    if depth:
        yield from generator(depth - 1)
    yield here()


async def coroutine(depth):
    return await coroutine(depth - 1) if depth else here()


def run(awaitable):
    try:
        awaitable.send(None)
    except StopIteration as stop:
        return stop.value


def over_many_lines():
    return max(
        (0, None),
        (
            1,
            here(),
        ),
        key=lambda pair:
            pair[0],
    )[1]


def in_handler():
    try:
        try:
            raise ValueError
        except ValueError:
            raise KeyError from None
    except KeyError:
        return here()
    finally:
        pass


class Closing:
    results = []

    def __del__(self):
        self.results.append(here())


class Built:
    def __init__(self, take):
        self.found = take()


def often_built():
    return [Built(take).found for take in [int] * 100 + [here]][-1]


def by_collector():
    first, second = Closing(), Closing()
    first.other, second.other = second, first
    del first, second
    gc.collect()
    return Closing.results[0]


def through_c():
    return sorted([3], key=lambda value: results.append(here()) or value) and results.pop()


results = []


def source(name, text, **names):
    """Run text as a file of that name."""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    space = dict(names, here=here, __name__="written")
    exec(compile(text, path, "exec"), space)
    return space


def long_function():
    """A table that does not fit into one definition."""
    lines = ["def long(n):", "    a = 0"] + ["    a = a + %d if n > %d else a" % (i, i) for i in range(9000)]
    return source("long.py", "\n".join(lines + ["    return here()"]))["long"](5)


def unicode_names():
    return source("verzeichnis_\u00e4/\u6f22\u5b57_\U0001f600.py", "def gr\u00f6\u00dfe():\n    return here()\n")["gr\u00f6\u00dfe"]()


def reused_code():
    """Code objects that come and go at the same addresses."""
    for number in range(300):
        space = source("reused.py", "\n" * (number % 40) + "def f%d():\n    return here()\n" % number)
        stack, got, wanted = space["f%d" % number]()
        if got != wanted or frames(stack)[1][1] != "f%d" % number:
            return False
    return True


MODULE = """
class Module:
    def _call_impl(self, *args, **kwargs):
        def inner():
            return self, args
        return self.forward(*args)

    def _wrapped_call_impl(self, *args, **kwargs):
        return self._call_impl(*args, **kwargs)

    __call__ = _wrapped_call_impl

    def forward(self, inside=None):
        return inside() if inside else here()
"""


def modules():
    Module = source("torch/nn/modules/module.py", MODULE)["Module"]
    outer, inner = Module(), Module()
    results = []
    for one, other in ((outer, inner), (outer, inner), (outer, inner), (inner, outer)):
        results.append(one(other)[0])
    del results[0]  # the first time the call's own code is only being learnt
    seen = [[probe.probe_module(stack, i) for i in range(counts(stack)["modules"])] for stack in results]
    known = {id(outer), id(inner)}
    # Up to 3.10 a local that a closure uses leaves its place: one frame of two has it.
    per_call = 2 if sys.version_info >= (3, 11) else 1
    good = seen[0] == [id(inner)] * per_call + [id(outer)] * per_call and seen[2] == seen[0][::-1]
    tell("layers are told by their module", good and set(seen[0]) == known and results[0] == results[1] != results[2])


def threads():
    lock, bad = threading.Lock(), []

    def work(number):
        for step in range(200):
            stack, got, wanted = recursion(number + step % 7)
            if got != wanted:
                with lock:
                    bad.append((got, wanted))

    running = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    for got, wanted in bad[:2]:
        print(f"# {len(bad)} differ: {got}, not {wanted}")
    tell("four threads", not bad)


def deep():
    sys.setrecursionlimit(20000)
    threading.stack_size(512 << 20)
    found = []
    thread = threading.Thread(target=lambda: found.append(recursion(10000)))
    thread.start()
    thread.join()
    threading.stack_size(0)
    stack, got, wanted = found[0]
    tell("10 000 frames deep", got == wanted and counts(stack)["python"] == LIMIT and counts(stack)["flags"] & 1 == 1)


def forked():
    child = os.fork()
    if child == 0:
        stack, got, wanted = recursion(3)
        os._exit(0 if got == wanted and got else 1)
    tell("child of a fork", os.waitpid(child, 0)[1] == 0)


def greenlets():
    try:
        import greenlet
    except ImportError:
        print("ok - %s: greenlets # SKIP greenlet is not installed" % version)
        return
    bad = []

    def work(number):
        for step in range(50):
            stack, got, wanted = recursion(number + step % 5)
            if got != wanted:
                bad.append((got, wanted))
            greenlet.getcurrent().parent.switch()

    running = [greenlet.greenlet(work) for _ in range(5)]
    for step in range(51):
        for number, one in enumerate(running):
            if not one.dead:
                one.switch(number) if step == 0 else one.switch()
    tell("greenlets", not bad)


def lost_definitions():
    """What could not be written is written when it is seen again."""
    probe.probe_refuse(1)
    hidden = recursion_of_its_own(4)
    probe.probe_refuse(0)
    stack, got, wanted = recursion_of_its_own(4)
    tell("a definition that found no room comes later", hidden[1] == [] and got == wanted)


def recursion_of_its_own(depth):
    for _ in range(1):
        result = recursion_of_its_own(depth - 1) if depth else here()
    return result


def traced():
    sys.settrace(lambda *event: None)
    result = here()
    sys.settrace(None)
    return result


def known():
    before = probe.probe_definitions(0)
    stacks = {recursion(5)[0] for _ in range(100)}
    tell("the same stack is defined once", len(stacks) == 1 and probe.probe_definitions(0) <= before + 1)


GENERATED = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
other = ctypes.CDLL(sys.argv[2])
place = ctypes.cast(other.probe_take, ctypes.c_void_p).value & -os.sysconf("SC_PAGESIZE")
probe = ctypes.CDLL(sys.argv[1])
probe.probe_start(2)
libc.dlclose(ctypes.c_void_p(other._handle))
private, anonymous, no_replace = 2, 0x20, 0x100000
code = libc.mmap(ctypes.c_void_p(place), ctypes.c_size_t(4096), 7, private | anonymous | no_replace, -1, ctypes.c_long(0))
calls_its_argument = b"\\x48\\x83\\xec\\x08\\xff\\xd7\\x48\\x83\\xc4\\x08\\xc3"
assert code == place
ctypes.memmove(code, calls_its_argument, len(calls_its_argument))
stack = ctypes.CFUNCTYPE(ctypes.c_uint, ctypes.c_void_p)(code)(ctypes.cast(probe.probe_take, ctypes.c_void_p))
sys.exit(stack == 0)
"""


def generated_code():
    if platform.machine() != "x86_64":
        return
    copy = shutil.copy(sys.argv[1], os.path.join(folder, "other.so"))
    ended = subprocess.run([sys.executable, "-c", GENERATED, sys.argv[1], copy])
    tell("generated code where a library was", ended.returncode == 0)


OUTLIVING = """
import ctypes, os, sys, threading
probe = ctypes.CDLL(sys.argv[1])
wait = ctypes.CDLL(None).usleep

class AtTheEnd:
    def __init__(self):
        self.tools = probe.probe_followed, wait, os.write

    def __del__(self):
        followed, wait, write = self.tools
        rounds = 200  # the threads may have to wait for a processor
        while followed() and rounds:
            wait(20000)
            rounds -= 1
        write(1, b"%d " % followed())

def deep(depth):
    return deep(depth - 1) if depth else probe.probe_follow()

probe.probe_start(3)
for _ in range(2):
    threading.Thread(target=deep, args=(50,), daemon=True).start()
while probe.probe_followed() < 50:
    wait(1000)
os.write(1, b"%d " % (probe.probe_followed() >= 50))
sys.last_to_go = AtTheEnd()
"""


def outliving():
    """The end of an interpreter frees the states of threads that go on."""
    ended = subprocess.run([sys.executable, "-c", OUTLIVING, sys.argv[1]], stdout=subprocess.PIPE,
                           env=dict(os.environ, PYTHONMALLOC="malloc", MALLOC_PERTURB_="165"))
    good = ended.returncode == 0 and ended.stdout.split() == [b"1", b"0"]
    tell("a thread that outlives the interpreter", good, "" if good else repr((ended.returncode, ended.stdout)))


def cost():
    def native(depth):
        return probe.probe_cost(3000) if not depth else native(depth - 1)

    for depth in (2, 7, 20):
        print("%-6s %2d Python frames: %6.1f ns a stack" % (version, depth, native(depth - 1)))


def main():
    if not probe.probe_start(PYTHON | NATIVE):
        tell("start", False)
        return
    if sys.argv[3:] == ["cost"]:
        cost()
        return
    same("a plain call", here())
    tell("the self-test passes", probe.probe_state() == 3, (probe.probe_trouble() or b"").decode())
    same("recursion", recursion(30))
    same("a generator", next(generator(0)))
    same("nested generators", next(generator(5)))
    same("coroutines", run(coroutine(4)))
    same("a call over many lines", over_many_lines())
    same("an exception handler", in_handler())
    same("a comprehension", [here() for _ in range(2)][1])
    same("a class body", type("Body", (), {"found": property(lambda self: here())})().found)
    same("back through C", through_c())
    same("a destructor run by the collector", by_collector())
    same("a constructor that runs often", often_built())
    same("a long function", long_function())
    same("names beyond ASCII", unicode_names())
    same("a traced function", traced())
    same("code without a file", eval(compile("here()", "<nowhere>", "eval"), {"here": here}))
    tell("reused code objects", reused_code())
    known()
    modules()
    threads()
    deep()
    forked()
    greenlets()
    lost_definitions()
    outliving()
    generated_code()


main()
