// Answers for `agree` with whatwg-url, the implementation of the URL Standard in jsdom. The argument is the folder with its
// package. Each line of standard input is a URL in hexadecimal digits. The same line of standard output is its serialization in hexadecimal
// digits, or `!`.
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const { URL } = createRequire(`${process.argv[2]}/`)('whatwg-url');
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

for await (const line of createInterface({ input: process.stdin })) {
  try {
    console.log(Buffer.from(new URL(decoder.decode(Buffer.from(line, 'hex'))).href).toString('hex'));
  } catch {
    console.log('!');
  }
}
