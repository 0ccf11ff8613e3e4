// Makes the files of the package that are not in the repository: the modules as text that bundlers take, and the licences.
// `npm pack` runs it, and so does `build`. The text has hexadecimal digits, which gzip makes smaller than Base64.
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
for (const name of ['simdpct.simd128.wasm', 'simdpct.small.wasm', 'simdpct.wasm']) {
  if (existsSync(here(name)) && WebAssembly.validate(readFileSync(here(name)))) continue;
  console.error(`simdpct: ${name} is missing or not WebAssembly; \`crates/wasm/build\` in the repository builds it`);
  process.exit(1);
}
for (const name of ['simdpct.simd128', 'simdpct.small']) writeFileSync(here(`${name}.mjs`), `export default '${readFileSync(here(`${name}.wasm`), 'hex')}';\n`);
for (const name of ['LICENSE-MIT', 'LICENSE-APACHE']) copyFileSync(here(`../../${name}`), here(name));
writeFileSync(here('LICENSE-THIRD-PARTY'), execFileSync(here('../../ci/notices'), [here('Cargo.toml'), 'wasm32-unknown-unknown']));
