// Joins the modules of a program, its own and those of our libraries, into a few files: Node loads these in half the time that hundreds of modules
// take. What comes from the registry stays outside, a dependency of the program with its own version and licence.
//
// Run in the folder of the program, after the compiler.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';

const OUTPUT = 'bundle';
const PACKAGES = dirname(process.cwd());
/** What modules read beside themselves when they run, by the folder of their package. */
const FILES = { 'status-page': ['page', 'dist/browser', 'dist/model'], 'wake-on-lan': ['proto'] };
/** Modules that run as processes of their own. */
const PROCESSES = ['bare-host-agent/dist/pools-file/parse-child'];

const located = new Set();

/** A module finds files by its own place. In the bundle, each has the place that it has below `packages/`, where its files are copied to. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    const place = relative(PACKAGES, id);
    if (!code.includes('import.meta.url') || place.startsWith('..')) return undefined;
    located.add(place.split(sep)[0]);
    return code.replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`);
  },
};

rmSync(OUTPUT, { recursive: true, force: true });
const bundle = await rolldown({
  input: { main: 'dist/main.js' },
  platform: 'node',
  external: (id) => !/^[./]|^@vmdhcp\//.test(id),
  plugins: [keepPlaces],
});
await write(bundle, { chunkFileNames: '[name]-[hash].js' });
for (const name of PROCESSES.filter((process) => located.has(process.split('/')[0]))) {
  const input = { [name]: join(PACKAGES, `${name}.js`) };
  await write(await rolldown({ input, platform: 'node', external: (id) => !/^[./]|^@vmdhcp\//.test(id) }), {
    codeSplitting: false,
  });
}
for (const folder of located) {
  const { version } = JSON.parse(readFileSync(join(PACKAGES, folder, 'package.json'), 'utf8'));
  mkdirSync(join(OUTPUT, folder), { recursive: true });
  writeFileSync(join(OUTPUT, folder, 'package.json'), JSON.stringify({ type: 'module', version }));
  for (const path of FILES[folder] ?? [])
    cpSync(join(PACKAGES, folder, path), join(OUTPUT, folder, path), {
      recursive: true,
      filter: (from) => !/\.(d\.ts|map|tsbuildinfo)$/.test(from),
    });
}

async function write(one, settings) {
  await one.write({ dir: OUTPUT, format: 'esm', banner: packagesOf, ...settings });
  await one.close();
}

/** Which packages a file has parts of, for people and for the tests of what a command loads. */
function packagesOf({ moduleIds }) {
  const folders = moduleIds.map((id) => relative(PACKAGES, id).split(sep)[0]);
  return `// Parts of ${[...new Set(folders)].toSorted().join(', ')}.`;
}
