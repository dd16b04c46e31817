/**
 * The thirty questions of docs/operations.md, asked in their order of one cluster: what the page shows is what their commands print, but for times, ages and
 * names that are made up anew. With UPDATE_OUTPUTS=1 the page gets what they print now.
 *
 * @module-tag nightly
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Question, questionsIn, withOutputs } from '@vmdhcp/dashboards';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { has, KubectlPlugin, LabProcess, needs, OperatedCluster } from '../src/index.js';

const PAGE = new URL('../../../docs/operations.md', import.meta.url);
const page = readFileSync(PAGE, 'utf8');
const questions = questionsIn(page);
const isUpdate = process.env['UPDATE_OUTPUTS'] !== undefined;
/** Where kubectl keeps what it discovered. */
const home = mkdtempSync(join(tmpdir(), 'vmdhcp-operations-'));
const plugin = new KubectlPlugin();
const printed = new Map<number, string>();
let operated: OperatedCluster;

beforeAll(async () => {
  operated = await OperatedCluster.start();
}, 180_000);

afterAll(async () => {
  await operated?.close();
  plugin.close();
  rmSync(home, { recursive: true });
  if (isUpdate) writeFileSync(PAGE, withOutputs(page, changed()));
});

/** What a person who types it sees. */
async function ask({ command }: Question): Promise<string> {
  const shell = new LabProcess('sh', ['-c', `{ ${command}\n} 2>&1`], {
    env: { KUBECONFIG: operated.cluster.adminKubeconfig, HOME: home, PATH: plugin.path, NO_COLOR: '1', COLUMNS: '140' },
  });
  const { code } = await shell.ended(60_000);
  expect([0, 1], shell.lines.join('\n')).toContain(code);
  // The controller has the name of its pod for its identity; here it has that of the machine.
  return shell.lines
    .map((line) => line.trimEnd().replaceAll(`${hostname()}_`, 'vm-dhcp-controller-6c9d8f7b54-x2k4p_'))
    .join('\n');
}

/** Without what differs from run to run. */
function lasting(output: string): string {
  return output
    .replaceAll(/a time between (\S+) and \S+(?=:)/g, '$1')
    .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z(\.\.\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)?/g, 'TIME')
    .replaceAll(/(?<=[ (]|^)(\d+[smhd])+(?= |\)|$)/gm, 'AGE')
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID')
    .replaceAll(/-[0-9a-z]{8,10}-[0-9a-z]{5}(?![0-9a-z])/g, '-POD')
    .replaceAll(/\w{3} [ \d]\d \d\d:\d\d:\d\d \d{4} GMT/g, 'DAY')
    .replaceAll(/\d+ seconds? ago/g, 'AGE ago')
    .replaceAll(/ +/g, ' ');
}

/** What a page has that is right stays as it is. */
function changed(): ReadonlyMap<number, string> {
  const before = new Map(questions.map(({ number, output }) => [number, output]));
  return new Map([...printed].filter(([number, output]) => lasting(output) !== lasting(before.get(number) ?? '')));
}

it('there are thirty', () => {
  expect(questions.map(({ number }) => number)).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
  // No metric has the rights of users.
  expect(questions.filter(({ query }) => query === undefined).map(({ number }) => number)).toEqual([28]);
});

describe.skipIf(!has('kubectl'))(`each question (${needs('kubectl')})`, () => {
  it.each(questions.map((question) => [`${question.number}. ${question.title}`, question] as const))(
    '%s',
    async (_, question) => {
      const output = await ask(question);
      printed.set(question.number, output);
      expect(output).not.toBe('');
      if (!isUpdate) expect(lasting(output), 'write the page anew with UPDATE_OUTPUTS=1').toBe(lasting(question.output));
    },
  );
});
