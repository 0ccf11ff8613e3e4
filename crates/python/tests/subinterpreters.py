"""Checks that a subinterpreter, and Python after Py_Finalize, get an ImportError that says what to do, and the main interpreter works.

    python subinterpreters.py

The package keeps objects of one interpreter. A subinterpreter that shared them would call functions of an interpreter that is
gone, and on 3.10 and 3.11 PyO3 would wait for ever for the main interpreter.
"""

import os
import subprocess
import sys
import tempfile

try:
    import _interpreters as interpreters  # 3.13 and later

    SHARED, ISOLATED = ["legacy"], ["isolated"]
except ImportError:
    import _xxsubinterpreters as interpreters

    SHARED, ISOLATED = {"isolated": False}, {"isolated": True}

# The ImportError comes from this package if the subinterpreter shares the GIL, like those of mod_wsgi and uWSGI, and from CPython
# if it has a GIL of its own.
OURS, CPYTHONS = "WSGIApplicationGroup %{GLOBAL}", "does not support loading in subinterpreters"

CODE = """
import os, sys
sys.path[:] = {path!r}
try:
    import simdpct
    simdpct.unquote('%41', 'latin-1')  # urllib's function answers
    text = 'imported'
except ImportError as error:
    text = str(error)
os.write({pipe}, text.encode())
"""


def in_subinterpreter(kind):
    """Imports the package in a new subinterpreter, and returns the message of the ImportError."""
    reader, writer = os.pipe()
    interpreter = interpreters.create(*kind) if sys.version_info >= (3, 13) else interpreters.create(**kind)
    interpreters.run_string(interpreter, CODE.format(path=sys.path, pipe=writer))
    interpreters.destroy(interpreter)
    os.close(writer)
    with open(reader, encoding="utf-8") as pipe:
        return pipe.read()


def in_main():
    import simdpct

    assert simdpct.quote("a b") == "a%20b" and simdpct.unquote("%E9", "latin-1") == "\u00e9"


def check(main_first):
    if main_first:
        in_main()
    for kind, wanted in ((SHARED, OURS), (ISOLATED, CPYTHONS if sys.version_info >= (3, 12) else OURS), (SHARED, OURS)):
        message = in_subinterpreter(kind)
        assert wanted in message, message
        in_main()


EMBEDDING = """
#include <Python.h>
int main(void) {
    for (int i = 0; i < 2; ++i) {
        Py_Initialize();
        if (PyRun_SimpleString("import sys; sys.path[:] = %s; import simdpct; simdpct.unquote('%%E9', 'latin-1')")) return 10 + i;
        Py_FinalizeEx();
    }
}
"""


def check_finalize():
    """Compiles a program that starts Python twice, and checks the error of the second import."""
    config = f"{sys.base_prefix}/bin/python{sys.version_info[0]}.{sys.version_info[1]}-config"
    flags = subprocess.run([config, "--includes", "--ldflags", "--embed"], capture_output=True, text=True, check=True).stdout.split()
    with tempfile.TemporaryDirectory() as folder:
        source = EMBEDDING % str(sys.path).replace('"', '\\"')
        command = ["cc", "-x", "c", "-", "-x", "none", *flags, f"-Wl,-rpath,{sys.base_prefix}/lib", "-o", f"{folder}/embed"]
        subprocess.run(command, input=source, text=True, check=True)
        done = subprocess.run([f"{folder}/embed"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 11 and "ImportError: simdpct cannot be imported again after Py_Finalize" in done.stderr, done


if __name__ == "__main__":
    if sys.argv[1:]:
        check(sys.argv[1] == "main")
    else:
        for first in ("main", "subinterpreter"):
            # Each check runs in a process of its own. The timeout ends it if it hangs.
            subprocess.run([sys.executable, __file__, first], check=True, timeout=60)
        try:
            check_finalize()
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"cannot compile a program that embeds Python, so that is not tested: {error}")
        print(f"{sys.version.split()[0]}: subinterpreters are refused")
