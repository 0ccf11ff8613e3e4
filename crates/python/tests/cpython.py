"""Runs CPython's own tests of urllib with this package's functions in place of urllib's.

    python cpython.py [MODULE...]

The tests are modules of the interpreter that runs this. Exits with 1 if a test fails that is not an exception named here, and with
75 if the interpreter was installed without its tests.
"""

import importlib.util
import io
import sys
import unittest
import urllib.parse

import simdpct

MODULES = ["test.test_urllib", "test.test_urlparse", "test.test_urllib2"]

# The tests of CPython that cannot pass with this package, each with the reason.
EXCEPTIONS = {
    # These two tests compare __all__ with the functions whose __module__ is urllib's.
    "test.test_urlparse.UrlParseTestCase.test_all": "reads __module__",
    "test.test_urllib2.TrivialTests.test___all__": "reads __module__",
    # This test reads the default of the argument `safe` from __defaults__, which a built-in function does not have.
    "test.test_urllib.QuotingTests.test_default_safe": "reads __defaults__",
}


def main(modules):
    if importlib.util.find_spec("test") is None or importlib.util.find_spec(MODULES[0]) is None:
        print("cpython: this interpreter came without its tests")
        return 75
    originals = {name: getattr(urllib.parse, name) for name in simdpct._patch._NAMES}
    simdpct.patch(everywhere=True)
    for name, original in originals.items():
        assert getattr(urllib.parse, name) is getattr(simdpct, name) is not original, name
    passed = 0
    wrong = []
    for module in modules or MODULES:
        suite = unittest.defaultTestLoader.loadTestsFromName(module)
        output = io.StringIO()
        result = unittest.TextTestRunner(output, verbosity=0).run(suite)
        failed = {test.id(): trace for test, trace in result.errors + result.failures}
        # A test inside `subTest` has its parameters after its name.
        names = {name.partition(" ")[0] for name in failed}
        wrong += [f"{name}\n{trace}" for name, trace in failed.items() if name.partition(" ")[0] not in EXCEPTIONS]
        expected = {name for name in EXCEPTIONS if name.startswith(f"{module}.")}
        good = result.testsRun - len(names)
        if good <= 0:
            wrong.append(f"{module}: no test passed")
        print(f"{module}: {good} passed, {len(result.skipped)} skipped, exceptions: {sorted(names & expected) or 'none'}")
        passed += good
        assert urllib.parse.quote is simdpct.quote, "a test took the patch back"
    for text in wrong:
        print(text)
    print(f"{sys.version.split()[0]}: {passed} passed, {len(wrong)} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
