// Makes the files of the package that are not in the repository: the module as text that bundlers take, and the licences.
// `npm pack` runs it, and so does `ci/cpus modules`.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
for (const name of ['simdpct.simd128.wasm', 'simdpct.wasm']) {
  if (existsSync(here(name)) && WebAssembly.validate(readFileSync(here(name)))) continue;
  console.error(`simdpct: ${name} is missing or not WebAssembly; run \`ci/cpus modules\` in the root of the repository, which builds it`);
  process.exit(1);
}
writeFileSync(here('simdpct.simd128.mjs'), `export default '${readFileSync(here('simdpct.simd128.wasm')).toString('base64')}';\n`);
for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) copyFileSync(here(`../../${name}`), here(name));
writeFileSync(here('LICENSE-THIRD-PARTY'), execFileSync(here('../../ci/notices'), [here('Cargo.toml'), 'wasm32-unknown-unknown']));
