/** What README promises to whoever has this clone and nothing published, typed as it is written there. The images are imported by a test of the images. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LabProcess } from '../src/index.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const [, SECTION = ''] = readFileSync(join(ROOT, 'README.md'), 'utf8').split('<!-- What is published');
const [TABLE = ''] = SECTION.split('\n## ');
/** The commands of each row, by the first words of what they are for. */
const ROWS = [...TABLE.matchAll(/^\| (.*) \| (.*) \|$/gm)].slice(2).map(([, purpose = '', cell = '']) => ({
  purpose,
  commands: [...cell.matchAll(/`([^`]+)`/g)].map(([, command = '']) => command.replace('PATH-OF-THIS-CLONE', ROOT)),
}));

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'vmdhcp-clone-'));
});

afterEach(() => rmSync(folder, { recursive: true }));

/** What a person sees who types it in a folder; fails with that if it fails. */
async function type(command: string, cwd: string): Promise<string> {
  const settings = { env: { HOME: folder, npm_config_offline: 'true' } };
  const shell = new LabProcess('sh', ['-c', `cd '${cwd}' && ${command}`], settings);
  const { code } = await shell.ended(150_000);
  const output = shell.lines.join('\n');
  expect(code, `${command}\n${output}`).toBe(0);
  return output;
}

function commandsOf(word: string): readonly string[] {
  const row = ROWS.find(({ purpose }) => purpose.includes(word));
  expect(row?.commands, `a row about ${word}`).not.toEqual([]);
  return row?.commands ?? [];
}

describe('from this clone, as README states', { timeout: 180_000 }, () => {
  it('the command lines run, the plugin of kubectl and the right Node among them', async () => {
    const [path = ''] = commandsOf('the command lines');
    const programs = ['vmdhcp-agent', 'vmdhcp-controller', 'kubectl-vmdhcp'].map((name) => `${name} --version`);
    const printed = await type(`${path} && ${programs.join(' && ')} && node --version`, ROOT);
    expect(printed.split('\n')).toEqual(['0.0.0', '0.0.0', '0.0.0', expect.stringMatching(/^v24\./)]);
  });

  it('a library is installed into another project, without a registry', async () => {
    const [pack = '', install = ''] = commandsOf('library');
    await type(pack, ROOT);
    const project = mkdtempSync(join(folder, 'project-'));
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    await type(install, project);
    const code = "import { parseIpv4Address } from '@vmdhcp/dhcp-allocator'; console.log(parseIpv4Address('10.0.0.1'));";
    expect(await type(`node --eval "${code}"`, project)).toMatch(/\d/);
  });

  it('the images have the option that writes them for the nodes of a cluster', async () => {
    const [build = ''] = commandsOf('images');
    expect(build).toBe('npm run images -- build --archive');
    expect(await type(`${build} --help`, ROOT)).toContain('--archive');
  });
});
