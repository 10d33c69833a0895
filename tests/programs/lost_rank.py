"""Two ranks of which the second does not come to a collective.  usage: killed|late

Prints what the first rank hears of it ("error") and what its stream is then ("free"), or by which signal it ended.
"""
import datetime
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import torch
import torch.distributed as dist

# Names of several releases.  The dump of PyTorch's flight recorder would take 15 s.
SETTINGS = {
    "killed": {"TORCH_FR_WAIT_TIMEOUT_DUMP_MILSEC": "0", "TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC": "0",
               "NCCL_ASYNC_ERROR_HANDLING": "1"},
    "late": {"TORCH_NCCL_BLOCKING_WAIT": "1", "NCCL_BLOCKING_WAIT": "1"},
}


def stream_frees():
    until = time.monotonic() + 10
    while not torch.cuda.current_stream().query() and time.monotonic() < until:
        time.sleep(0.01)
    return torch.cuda.current_stream().query()


def rank(how, number, store):
    torch.cuda.set_device(number)
    dist.init_process_group("nccl", init_method=f"file://{store}", rank=number, world_size=2,
                            timeout=datetime.timedelta(seconds=60 if how == "killed" else 2))
    tensor = torch.ones(4).cuda()
    dist.all_reduce(tensor)
    torch.cuda.synchronize()
    if number == 1 and how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 1:
        time.sleep(60)
    try:
        dist.all_reduce(tensor, async_op=True).wait()
        torch.cuda.synchronize()
        if how == "killed":
            time.sleep(60)  # PyTorch frees the stream before it ends the process
        print("nothing", flush=True)
    except RuntimeError:
        print("error", flush=True)
    print("free" if stream_frees() else "stuck", flush=True)
    os._exit(0)


def main(how):
    with tempfile.TemporaryDirectory() as folder:
        store = pathlib.Path(folder) / "store"
        env = dict(os.environ, **SETTINGS[how])
        first, second = (subprocess.Popen([sys.executable, __file__, how, str(number), store], env=env) for number in range(2))
        code = first.wait()
        second.kill()
        second.wait()
    if code < 0:
        print(signal.Signals(-code).name)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        main(sys.argv[1])
    else:
        rank(sys.argv[1], int(sys.argv[2]), sys.argv[3])
