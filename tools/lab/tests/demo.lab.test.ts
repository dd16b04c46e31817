/** `npm run demo` as a process: it tells its stories to the end, and leaves nothing behind, also after Ctrl-C. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { CLUSTER_EXAMPLES, LAB_VARIABLE, LabProcess, run, waitFor } from '../src/index.js';

const DEMO = fileURLToPath(new URL('../../demo/dist/main.js', import.meta.url));
const SCRIPTS = fileURLToPath(new URL('../../../scripts', import.meta.url));
/** Two processors that are busy included. */
const STORY_TIMEOUT_MS = 180_000;

let demo: LabProcess | undefined;

afterEach(async () => {
  await demo?.stop();
});

function start(...parameters: readonly string[]): LabProcess {
  demo = new LabProcess(process.execPath, [DEMO, ...parameters], { env: { [LAB_VARIABLE]: '1', NO_COLOR: '1' } });
  return demo;
}

/** The kernel ends network namespaces, and the interfaces that lead to them, a moment later. */
async function expectNothingLeft(): Promise<void> {
  await waitFor('nothing to be left', () => leftovers().length === 0).catch(() => undefined);
  expect(leftovers()).toEqual([]);
}

/** What a lab would leave on this host. */
function leftovers(): readonly string[] {
  const links = JSON.parse(run('ip', ['-json', 'link', 'show'])) as readonly { readonly ifname: string }[];
  return [...links.map(({ ifname }) => ifname).filter((name) => name !== 'lo'), ...readdirSync('/run/netns')];
}

/** What a person would have to look up, or wait for without a word. */
function expectPlainWords(lines: readonly string[]): void {
  expect(lines.filter((line) => /E(CONNREFUSED|HOSTUNREACH|PIPE)|Secret of certificates|caches synced/.test(line))).toEqual([]);
  for (const [index, line] of lines.entries())
    if (/^ +[\d.]+ s +measured: (all have|.* with the server addresses)/.test(line))
      expect(lines[index + 1]).toContain('README.md: within ');
}

/** The lines that have these texts, in this order. */
function expectInOrder(lines: readonly string[], texts: readonly string[]): void {
  let from = 0;
  for (const text of texts) {
    const found = lines.findIndex((line, index) => index >= from && line.includes(text));
    expect(found, `${text}, in:\n${lines.join('\n')}`).toBeGreaterThanOrEqual(0);
    from = found + 1;
  }
}

describe('the demo', () => {
  it('for Wake-on-LAN starts each machine once, and ends with what to try next', {
    tags: ['nightly'],
    timeout: STORY_TIMEOUT_MS,
  }, async () => {
    const { code } = await start('--wake-on-lan').ended(STORY_TIMEOUT_MS);
    const lines = demo?.lines ?? [];
    expect(code, lines.join('\n')).toBe(0);
    expectPlainWords(lines);
    expectInOrder(lines, [
      '3 agents are ready',
      'measured: 1 request to start office/build-server',
      'Normal WakeUpStarted VirtualMachine office/build-server is being started',
      'outcome="not-in-list"} 1',
      'is not reported yet',
      'measured: 1 request to start office/mail-server',
      'vm-already-running office/build-server',
      'wol-agent-office   ready 3 of 3',
    ]);
    const table = lines.filter((line) => /^(office|private)\//.test(line)).map((line) => line.split(/\s{2,}/));
    expect(table.map(([machine, , , status, starts]) => [machine, status, starts])).toEqual([
      ['office/build-server', 'Running', '1'],
      ['office/mail-server', 'Running', '1'],
      ['private/payroll', 'Stopped', '0'],
    ]);
    expect(lines.slice(-5)[0]).toBe('What to try next:');
    await expectNothingLeft();
  });

  it(
    'for addresses gives each machine its address',
    async () => {
      const { code } = await start().ended(STORY_TIMEOUT_MS);
      const lines = demo?.lines ?? [];
      expect(code, lines.join('\n')).toBe(0);
      expectPlainWords(lines);
      expectInOrder(lines, [
        'measured: all have their addresses ',
        'ready: the webhook',
        'Virtual machine web is deleted and created again',
        'killed vm-dhcp-agent-mgmt-1-',
        'measured: web has its reply ',
        'is leader, with the server addresses, ',
        'refused spec.networkName',
        'Warning PoolExhausted',
        'has no address on network default/vlan-49: PoolExhausted',
        'broken here',
      ]);
      expect(lines.filter((line) => /(controller|webhook): .*(not retrying|rolebindings)/.test(line))).toEqual([]);
      expect(lines.slice(-6)[0]).toBe('What to try next:');
      for (const text of ['web .* 192.168.48.1[01]', 'database .* 192.168.48.50', 'gateway-back .* 192.168.49.10'])
        expect(lines).toContainEqual(expect.stringMatching(`^${text}`));
      await expectNothingLeft();
    },
    STORY_TIMEOUT_MS,
  );

  it('for plain KubeVirt does the same without an object of Harvester, with agents where the bridges are', {
    tags: ['nightly'],
    timeout: STORY_TIMEOUT_MS,
  }, async () => {
    const { code } = await start('--kubevirt').ended(STORY_TIMEOUT_MS);
    const lines = demo?.lines ?? [];
    expect(code, lines.join('\n')).toBe(0);
    expectInOrder(lines, [
      'NetworkAttachmentDefinition default/vlan-48 created',
      'database: 192.168.48.50',
      'killed vm-dhcp-agent-br-48-',
      'is leader, with the server addresses, ',
      'agents on nodes with bridge.network.kubevirt.io/br-49',
    ]);
    expect(readFileSync(join(CLUSTER_EXAMPLES, 'plain-kubevirt.yaml'), 'utf8')).not.toContain('harvesterhci.io');
    await expectNothingLeft();
  });

  it('for bare-metal hosts binds an address, restarts a host once, and loses no address with an agent', {
    tags: ['nightly'],
    timeout: STORY_TIMEOUT_MS,
  }, async () => {
    const { code } = await start('--hosts').ended(STORY_TIMEOUT_MS);
    const lines = demo?.lines ?? [];
    expect(code, lines.join('\n')).toBe(0);
    expectPlainWords(lines);
    expectInOrder(lines, [
      'ready: 2 agents',
      'HostStatus rack-192-168-60-10: healthy; BiosVersion P79 v1.45, PowerState On',
      '192.168.60.10 is bound to 02:00:5e:00:60:01',
      'no server answers 02:00:5e:00:60:04',
      'host-1 is back at 192.168.60.10',
      'boot override Once Pxe, reset ForceRestart, boot from Pxe',
      'measured: 1 reset, 1 boot override',
      'killed agent-rack-',
      'measured: 0 of 3 hosts lost their addresses',
      'ClusterAgent rack   addresses used 3 of 3',
      'HostOperation reinstall-host-2   PxeReboot   success',
    ]);
    expect(lines.filter((line) => line.includes('HostStatus rack-') && line.includes('healthy true'))).toHaveLength(3);
    expect(lines.filter((line) => /controller: .*(failed; trying|refused)/.test(line))).toEqual([]);
    expect(lines.slice(-5)[0]).toBe('What to try next:');
    await expectNothingLeft();
  });

  it('ends at Ctrl-C with exit code 130, and leaves nothing', async () => {
    await start('--wake-on-lan').line('deciding about wake-ups');
    demo?.kill('SIGINT');
    expect(await demo?.ended()).toEqual({ code: 130, signal: null });
    await expectNothingLeft();
  });
});

describe('npm run demo -- --clean', () => {
  it('removes what was installed and built, from the clone and from the stores, and nothing of another project', () => {
    const clone = mkdtempSync(join(tmpdir(), 'vmdhcp-clean-'));
    const path = (...names: readonly string[]) => join(clone, ...names);
    try {
      cpSync(SCRIPTS, path('scripts'), { recursive: true });
      cpSync(join(SCRIPTS, '../package.json'), path('package.json'));
      const { packageManager } = JSON.parse(readFileSync(path('package.json'), 'utf8')) as { readonly packageManager: string };
      const caches = { ours: [packageManager], another: ['cowsay'] };
      for (const [name, packages] of Object.entries(caches)) {
        mkdirSync(path('cache/_npx', name), { recursive: true });
        writeFileSync(path('cache/_npx', name, 'package.json'), JSON.stringify({ _npx: { packages } }));
      }
      for (const name of [
        'node_modules/zod',
        'packages/a/dist',
        'packages/a/src',
        'tools/b/node_modules',
        '.vmdhcp/images',
        'bin',
      ])
        mkdirSync(path(name), { recursive: true });
      for (const name of ['npm', 'npx'])
        writeFileSync(path('bin', name), `#!/bin/sh\necho "$@" >> '${path('called')}'\necho '${path('cache')}'\n`, {
          mode: 0o755,
        });
      const printed = run('sh', [
        '-c',
        `PATH='${path('bin')}':$PATH exec '${process.execPath}' '${path('scripts/start.mjs')}' demo --clean`,
      ]);
      expect(printed).toContain(`removed ${path('node_modules')}\n`);
      expect(readdirSync(path('cache/_npx'))).toEqual(['another']);
      expect(readdirSync(clone).toSorted()).toEqual(['bin', 'cache', 'called', 'package.json', 'packages', 'scripts', 'tools']);
      expect([readdirSync(path('packages/a')), readdirSync(path('tools/b'))]).toEqual([['src'], []]);
      expect(readFileSync(path('called'), 'utf8')).toContain(`-y ${packageManager} store prune\n`);
    } finally {
      rmSync(clone, { recursive: true });
    }
  });
});

describe('the help of each task', () => {
  interface HelpTexts {
    readonly helpTexts: () => readonly (readonly [path: string, text: string])[];
  }
  const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

  it('works before anything is installed or built', () => {
    const clone = mkdtempSync(join(tmpdir(), 'vmdhcp-help-'));
    try {
      cpSync(SCRIPTS, join(clone, 'scripts'), { recursive: true });
      const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
        readonly scripts: Readonly<Record<string, string>>;
      };
      const tasks = Object.entries(scripts).flatMap(([name, command]) => (command.includes('scripts/start.mjs') ? [name] : []));
      expect(tasks.length).toBeGreaterThan(9);
      for (const words of [...tasks.map((name) => [name]), ['test', 'seeds'], ['pictures', 'page'], ['bench', 'agents']]) {
        const printed = run(process.execPath, [join(clone, 'scripts/start.mjs'), ...words, '--help']);
        expect(printed, words.join(' ')).toMatch(new RegExp(`^(Usage: )?npm (run )?${words.join(' (-- )?')}\\b`));
      }
      expect(readdirSync(clone)).toEqual(['scripts']);
    } finally {
      rmSync(clone, { recursive: true });
    }
  });

  it('equals the output of its program', async () => {
    const { helpTexts } = (await import(join(SCRIPTS, 'help-texts.mjs'))) as HelpTexts;
    for (const [path, text] of helpTexts())
      expect(readFileSync(join(ROOT, path), 'utf8'), 'npm run generate writes it').toBe(text);
  });
});
