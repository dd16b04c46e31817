// Joins the modules of a program, its own and those of our libraries, into some files: Node loads them in half the time that hundreds of modules take.
// Packages of the registry stay outside: they are dependencies of the program, each with its own version and licence.
//
// Runs in the folder of the program, after the compiler. Turbo runs it again when any file of this repository's packages has changed, because the
// repository itself depends on the programs.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';

const OUTPUT = 'program';
const PACKAGES = dirname(process.cwd());
/** What modules read when they run beside the version of their package, by its folder. */
const FILES = {
  'agent-cli': [],
  'bare-host-agent': [],
  'controller-cli': [],
  'controller-process': [],
  'kubectl-vmdhcp': [],
  'status-page': ['page', 'dist/browser', 'dist/model'],
  'wake-on-lan': ['proto'],
};
/** Modules that run as a process of their own, and look for no files. */
const PROCESSES = { 'bare-host-agent': 'dist/pools-file/parse-child' };
/** Types and maps, which no program reads. */
const DEVELOPMENT = /\.(d\.ts|map|tsbuildinfo)$/;

/** The folders of packages whose modules look for files. */
const looking = new Set();

/** A module finds files from its own place. It keeps the place below `packages/` that it had, and these files are copied there. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    if (!looksForFiles(code, id)) return undefined;
    const place = relative(PACKAGES, id);
    if (/import\.meta\.(?!url)/.test(code))
      throw new Error(`${place} uses more of import.meta than its url, which scripts/join-modules.mjs does not know`);
    if (FILES[folderOf(id)] === undefined)
      throw new Error(`${place} looks for files: name them in FILES of scripts/join-modules.mjs`);
    looking.add(folderOf(id));
    return code.replaceAll('import.meta.url', `new URL('${place}', import.meta.url).href`);
  },
};

/** The place of a process in the program is another one. */
const refuseFiles = {
  name: 'refuse-files',
  transform(code, id) {
    if (looksForFiles(code, id)) throw new Error(`${id} looks for files, in a process of its own`);
    return undefined;
  },
};

rmSync(OUTPUT, { recursive: true, force: true });
await joinModules({ main: 'dist/main.js' }, [keepPlaces], { chunkFileNames: '[name]-[hash].js' });
for (const folder of looking) {
  const { version } = JSON.parse(readFileSync(join(PACKAGES, folder, 'package.json'), 'utf8'));
  mkdirSync(join(OUTPUT, folder), { recursive: true });
  writeFileSync(join(OUTPUT, folder, 'package.json'), JSON.stringify({ type: 'module', version }));
  for (const path of FILES[folder])
    cpSync(join(PACKAGES, folder, path), join(OUTPUT, folder, path), {
      recursive: true,
      filter: (from) => !DEVELOPMENT.test(from),
    });
  const own = PROCESSES[folder];
  if (own !== undefined)
    await joinModules({ [`${folder}/${own}`]: join(PACKAGES, folder, `${own}.js`) }, [refuseFiles], { codeSplitting: false });
}

/** A module of ours that asks for its place. */
function looksForFiles(code, id) {
  return id.startsWith(`${PACKAGES}${sep}`) && code.includes('import.meta.');
}

async function joinModules(input, plugins, output) {
  const isOfRegistry = (id) => !/^[./]|^@vmdhcp\//.test(id);
  const joined = await rolldown({ input, platform: 'node', external: isOfRegistry, plugins });
  await joined.write({ dir: OUTPUT, format: 'esm', banner: describeParts, ...output });
  await joined.close();
}

/** For people, and for the tests of what a command loads. */
function describeParts({ moduleIds }) {
  return `// Parts of ${[...new Set(moduleIds.map(folderOf))].toSorted((one, other) => one.localeCompare(other)).join(', ')}.`;
}

function folderOf(id) {
  return relative(PACKAGES, id).split(sep)[0];
}
