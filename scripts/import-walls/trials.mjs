// Planted sources for scripts/check-import-walls.mjs, judged by a small table: what it must find, and what it must let pass.

export const TABLE = {
  'packages/pure': {
    pure: true,
    imports: ['zod', '@vmdhcp/ground', '@vmdhcp/ground/*'],
    why: 'it is pure',
    folders: ['one', 'named', 'two', 'three', 'edge'],
    edges: { edge: ['node:*', 'pino'] },
    globals: { 'two/time.ts': ['Date.parse'] },
  },
  'packages/cli': {
    imports: ['@vmdhcp/*', 'node:*'],
    refused: ['@vmdhcp/lab'],
    why: 'it imports libraries',
    folders: ['run', 'commands'],
  },
  'packages/flat': { imports: [], why: 'it stands alone' },
  'tools/any': { everything: true, refused: ['@vmdhcp/**'], why: 'it imports nothing of ours' },
};

const PURE = 'packages/pure/src/two/a.ts';
const EDGE = 'packages/pure/src/edge/a.ts';
const ENTRY = 'packages/pure/src/index.ts';
const CLI = 'packages/cli/src/run/a.ts';

/** `[path, text, what the finding contains]`. */
export const REFUSED = [
  // Every form of an import.
  [PURE, "import { a } from 'pino';", ":1: imports 'pino': pure must not import it: it is pure"],
  [PURE, "\n\nimport 'pino';", ":3: imports 'pino'"],
  [PURE, "import type { A } from 'pino';", "'pino'"],
  [PURE, "import { type A } from 'pino';", "'pino'"],
  [PURE, "import * as all from 'pino';", "'pino'"],
  [PURE, "export { a } from 'pino';", "'pino'"],
  [PURE, "export * from 'pino';", "'pino'"],
  [PURE, "export * as all from 'pino';", "'pino'"],
  [PURE, "export type { A } from 'pino';", "'pino'"],
  [PURE, "const a = await import('pino');", "'pino'"],
  [PURE, 'const a = await import(`pino`);', "'pino'"],
  [PURE, 'const a = (name: string) => import(name);', 'only a run can tell'],
  [PURE, "type A = import('pino').Logger;", "'pino'"],
  [PURE, "function f(a: Map<string, typeof import('pino')>) {}", "'pino'"],
  [PURE, "import a = require('pino');", "'pino'"],
  [PURE, "const a = require('pino');", "'pino'"],
  [PURE, "declare module 'pino' { interface Logger {} }", "'pino'"],
  // Packages.
  [PURE, "import 'node:fs';", "'node:fs'"],
  [PURE, "import 'zod/v4';", "'zod/v4'"],
  [PURE, "import '@vmdhcp/ground/a/b';", "'@vmdhcp/ground/a/b'"],
  [PURE, "import '@vmdhcp/ground/src';", 'by what it exports'],
  [PURE, "import '#inner';", "'#inner'"],
  [PURE, "import '/tmp/a.js';", "'/tmp/a.js'"],
  [EDGE, "import 'zod';", 'pure/edge must not import it'],
  ['packages/pure/src/edge.ts', "import 'pino';", "'pino'"],
  [ENTRY, "import 'pino';", "'pino'"],
  [CLI, "import '@vmdhcp/ground/src/a.js';", 'by what it exports'],
  [CLI, "import '@vmdhcp/ground/dist/a.js';", 'by what it exports'],
  [CLI, "import '@vmdhcp/lab';", 'cli must not import it: it imports libraries'],
  [CLI, "import '@vmdhcp/lab/testing';", "'@vmdhcp/lab/testing'"],
  [CLI, "import 'node:fs/promises';", "'node:fs/promises'"],
  ['tools/any/src/a.ts', "import '@vmdhcp/ground';", 'it imports nothing of ours'],
  ['tools/any/src/a.ts', "import 'vmdhcp-agent/dist/main.js';", 'by what it exports'],
  // Folders.
  [PURE, "import '../three/a.js';", 'a folder of pure imports only what stands before it'],
  [PURE, "import type { A } from '../three/deep/a.js';", "'../three/deep/a.js'"],
  [PURE, "type A = import('../three/a.js').A;", "'../three/a.js'"],
  ['packages/pure/src/two/deep/er/a.ts', "import '../../../three/a.js';", 'before it'],
  ['packages/pure/src/two/deep/a.ts', "import '../../two/../three/a.js';", 'before it'],
  ['packages/pure/src/one/a.ts', "import '../named.js';", 'before it'],
  ['packages/pure/src/named.ts', "import './two/a.js';", 'before it'],
  [PURE, "import '../rest.js';", 'rest has no place'],
  [PURE, "import '../index.js';", 'entry point'],
  ['packages/pure/src/two/deep/a.ts', "import '../../main.js';", 'entry point'],
  [PURE, "import '../../../ground/src/a.js';", 'outside of the sources'],
  [PURE, "import '../../dist/a.js';", 'outside of the sources'],
  ['packages/flat/src/a.ts', "import '../../pure/src/a.js';", 'outside of the sources'],
  // Globals in pure code.
  ...['Date.now()', 'new Date()', 'new Date(0)', 'process.env', 'console.log()', 'performance.now()', 'setTimeout(f)'].map(
    pureUse,
  ),
  ...['setInterval(f)', 'setImmediate(f)', 'queueMicrotask(f)', "fetch('/')", 'crypto.randomUUID()', "Buffer.from('')"].map(
    pureUse,
  ),
  ...['Math.random()', "Math['random']()", 'AbortSignal.timeout(1)', 'globalThis.Date', 'globalThis.process', 'global.fetch'].map(
    pureUse,
  ),
  ...['{ Date }', '{ now: Date.now }', '[Date][0]', 'Date as unknown', '(Date!)', '(d = Date) => d', 'Math'].map(pureUse),
  [PURE, 'class A { readonly nowMs = Date.now; }', 'uses Date.now'],
  [PURE, 'const { random } = Math;', 'uses Math'],
  [PURE, 'import Clock = Date;', 'uses Date'],
  [PURE, 'declare const Date: { now(): number };', 'uses Date'],
  [PURE, 'declare function fetch(): void;', 'uses fetch'],
  [PURE, 'function f(at: Date) {}', 'uses Date'],
  [PURE, 'interface A { read(bytes: string): Promise<Buffer> }', 'uses Buffer'],
  [PURE, 'type Clock = typeof Date;', 'uses Date'],
  [PURE, 'class A implements Date {}', 'uses Date'],
  [PURE, 'interface Date {}', 'uses Date'],
  [PURE, 'type Date = number;', 'uses Date'],
  [PURE, 'function f(Date: number) {} const a = Date;', 'uses Date'],
  [PURE, '{ const Date = 1; } const a = Date;', 'uses Date'],
  [ENTRY, 'export const a = Date.now();', 'uses Date.now'],
  ['packages/pure/src/two/time.ts', 'const a = [Date.parse(b), Date.now()];', 'uses Date.now'],
  ['packages/pure/src/two/time.ts', 'const a = 1;', 'does not use Date.parse'],
  [PURE, 'const = 1;', 'cannot be parsed'],
];

/** `[path, text]`. */
export const ALLOWED = [
  [PURE, "import { a } from 'zod'; import type { B } from '@vmdhcp/ground'; export * from '@vmdhcp/ground/sub';"],
  [PURE, "import './b.js'; import '../one/a.js'; import '../one/deep/a.js'; import '../named.js'; import '../two/deep/a.js';"],
  ['packages/pure/src/two/deep/er/a.ts', "import '../../a.js'; import '../../../one/index.js';"],
  ['packages/pure/src/named.ts', "import './one/a.js';"],
  [ENTRY, "export * from './three/a.js'; export * from './rest.js';"],
  [EDGE, "import 'node:fs'; import 'pino'; const a = [Date.now(), process.env, Math.random()];"],
  [CLI, "import '@vmdhcp/ground'; import 'node:fs'; const a = Date.now();"],
  ['packages/cli/src/commands/a.ts', "import '../run/a.js';"],
  ['packages/flat/src/a.ts', "import './b.js';"],
  ['tools/any/src/later/a.ts', "import 'pino'; import '../index.js'; import '../other/a.js'; const a = await import(name);"],
  ['packages/pure/src/two/time.ts', 'const a = Date.parse(b);'],
  [PURE, "const text = \"import 'pino'\"; // import 'pino'; Date.now()"],
  [
    PURE,
    'function f(Date: number, { fetch }: Ports, [crypto]: Key[], ...process: string[]) { return [Date, fetch, crypto, process]; }',
  ],
  [PURE, 'const f = (setTimeout: Timer) => setTimeout(1); const g = function console() { console(); };'],
  [PURE, 'class A { constructor(private readonly Buffer: B) { f(Buffer); } process() { return this.process(); } }'],
  [PURE, 'try { f(); } catch (process) { f(process); } for (const Date of dates) f(Date); for (let fetch = 0; ; ) f(fetch);'],
  [PURE, "import { Buffer } from 'zod'; import { Date as Day, process } from '@vmdhcp/ground'; f(Buffer, Day, process);"],
  [PURE, 'const a = { Date: 1, process() {} }; f(a.Date, a?.process, ports.fetch); enum Kind { Date = 1 }'],
  [PURE, 'interface Ports { Date: string; fetch(crypto: number): asserts crypto; [process: string]: unknown }'],
  [PURE, 'type Pair = [process: number]; abstract class A { abstract process: Pair; abstract fetch(console: number): void; }'],
  [PURE, "type A = import('zod').Date; type B = { [process in Kind]: Zod.Date }; const f: (Date: number) => void = g;"],
  [PURE, 'const a = [Math.max(1, 2), AbortSignal.any([]), new Map(), JSON.parse(b)];'],
];

/** `[paths, part of the table, what the finding contains]`; without the last, nothing may be found. */
export const TABLES = [
  [['packages/a/src/x/a.ts'], { imports: ['@vmdhcp/a'], folders: ['x'], edges: { x: [] }, globals: { 'x/a.ts': [] } }],
  [['packages/a/src/a.ts'], { imports: [], folders: ['a'] }],
  [['tools/a/src/x/a.ts'], { everything: true }],
  [['packages/b/src/a.ts'], undefined, 'packages/b: has no entry'],
  [[], { imports: [] }, 'packages/a: has an entry and no sources'],
  [['packages/a/src/x/a.ts'], { imports: [] }, 'folder x has no place'],
  [['tools/a/src/x/a.ts', 'tools/a/src/y/a.ts'], { everything: true, folders: ['y'] }, 'folder x has no place'],
  [['packages/a/src/a.ts'], { imports: [], folders: ['x'] }, 'the order names x, which is not there'],
  [['packages/a/src/x/a.ts'], { imports: [], folders: ['x', 'x'] }, 'the order names x twice'],
  [['packages/a/src/x.ts'], { imports: [], folders: ['x'], edges: { x: [] } }, 'edge x is not a folder'],
  [['packages/a/src/a.ts'], { imports: [], globals: { 'b.ts': ['Date'] } }, 'permitted to b.ts, which is not there'],
  [['packages/a/src/a.ts'], { imports: ['@vmdhcp/gone/sub'] }, 'names @vmdhcp/gone/sub'],
  [['packages/a/src/a.ts'], { imports: [], refused: ['@vmdhcp/gone'] }, 'names @vmdhcp/gone'],
];

function pureUse(code) {
  return [PURE, `const a = ${code};`, 'uses '];
}
