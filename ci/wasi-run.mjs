// Runs one wasm32-wasip1 program in node, as cargo's runner:  node --no-warnings ci/wasi-run.mjs PROGRAM.wasm [ARG...]
// The program sees the whole environment, but only one directory of the file system: its working directory (cargo starts tests
// in the folder of the package), under its full path and as the current directory.
import { readFile } from 'node:fs/promises';
import { setFlagsFromString } from 'node:v8';
import { WASI } from 'node:wasi';

// Node 20 and 22 can crash (SIGSEGV) where optimised WebAssembly calls a function of WASI without the usual conversion of
// arguments: https://github.com/nodejs/node/issues/53087. With this flag of V8, every call converts them.
setFlagsFromString('--no-turbo-fast-api-calls');

const [program, ...args] = process.argv.slice(2);
const here = process.cwd();
const wasi = new WASI({
  version: 'preview1',
  args: [program, ...args],
  env: process.env,
  preopens: { '.': here, [here]: here },
});

const module = await WebAssembly.compile(await readFile(program));

// std needs a few thread functions that a libc without threads lacks, and ci/cpus lets the linker leave exactly these functions as
// imports. No thread can be started here, so a call is a bug and throws an exception.
const env = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  if (from === 'env') env[name] = () => { throw new Error(`${name} was called: there are no threads here`); };
}

try {
  const instance = await WebAssembly.instantiate(module, { ...wasi.getImportObject(), env });
  process.exitCode = wasi.start(instance);
} catch (trap) {
  // This target cannot unwind, so a panic ends in a trap, and the test binary stops at its first failing test.
  console.error(`wasi-run: ${program}: ${trap.stack ?? trap}`);
  process.exitCode = 134;
}
