// Runs one wasm32-wasip1 program in node, as cargo's runner:  node --no-warnings ci/wasi-run.mjs PROGRAM.wasm [ARG...]
// The program sees the whole environment, and of the file system only the directory it was started in (for cargo:
// the package), under its full path and as the current directory.
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const [program, ...args] = process.argv.slice(2);
const here = process.cwd();
const wasi = new WASI({
  version: 'preview1',
  args: [program, ...args],
  env: process.env,
  preopens: { '.': here, [here]: here },
});

const module = await WebAssembly.compile(await readFile(program));

// std names a few thread functions that a libc without threads does not have; the linker was told to leave exactly those to
// us (see ci/cpus). No thread can be started here, so a call is a bug and must not pass for success.
const env = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) {
  if (from === 'env') env[name] = () => { throw new Error(`${name} was called: there are no threads here`); };
}

try {
  const instance = await WebAssembly.instantiate(module, { ...wasi.getImportObject(), env });
  process.exitCode = wasi.start(instance);
} catch (trap) {
  // A panic ends in a trap, for this target cannot unwind: the test binary stops at its first failing test.
  console.error(`wasi-run: ${program}: ${trap.stack ?? trap}`);
  process.exitCode = 134;
}
