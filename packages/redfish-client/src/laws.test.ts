import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { planNetworkBoot, planReset } from './action/plan-action.js';
import { RESET_TYPES } from './action/reset-type.js';
import { taskState } from './action/task-state.js';
import { RedfishError } from './error/redfish-error.js';
import { AnswerMemory, type Holder } from './http/answer-memory.js';
import { redactor } from './http/redact.js';
import { CollectedInfo } from './report/collect-info.js';
import type { LogEntry } from './report/host-report.js';
import { mergeLogs, toLogEntry } from './report/log-entries.js';
import {
  driveFacts,
  ethernetFacts,
  managerFacts,
  memoryFacts,
  pcieFacts,
  processorFacts,
  serviceFacts,
  systemFacts,
} from './report/part-facts.js';
import { describeAnswer } from './resource/describe-answer.js';
import { naturalOrder } from './resource/natural-order.js';
import { MOST_DEPTH, parseResource, shapeOf } from './resource/parse-resource.js';
import { resolveLink } from './resource/resolve-link.js';
import { isResource } from './resource/resource.js';
import { sendJson, startService } from './service-fixtures.js';

const ORIGIN = 'https://10.0.0.10:443';
const FACTS = [serviceFacts, managerFacts, systemFacts, processorFacts, memoryFacts, driveFacts, ethernetFacts, pcieFacts];

/** Objects with the names of Redfish and values of any type. */
const anyResource = fc
  .dictionary(
    fc.constantFrom(
      'Status',
      'Health',
      'Name',
      'Members',
      'Boot',
      'Actions',
      'Created',
      'Message',
      'error',
      'TaskState',
      '@odata.id',
      '__proto__',
    ),
    fc.anything({ maxDepth: 4 }),
  )
  .filter(isResource);

interface Named extends Holder {
  readonly name: string;
}

describe('law: whatever a service answers', () => {
  it('no reading throws, and information is short texts', () => {
    fc.assert(
      fc.property(anyResource, (resource) => {
        const info = new CollectedInfo(String);
        for (const facts of FACTS) info.add('x.', facts(resource));
        for (const text of Object.values(info.info)) expect(text.length > 0 && text.length <= 256).toBe(true);
        for (const type of RESET_TYPES) planReset(resource, type, resource);
        planNetworkBoot(resource);
        taskState(200, resource, String);
        describeAnswer(resource, String);
        toLogEntry(resource, String);
      }),
    );
  });

  it('a call ends with a result or a RedfishError', async () => {
    const paths = ['/redfish/v1/', '/redfish/v1/Systems', '/a', '/b', '/c'];
    const value = fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...paths).map((path) => ({ '@odata.id': path })) },
      {
        weight: 2,
        arbitrary: fc.array(
          fc.constantFrom(...paths).map((path) => ({ '@odata.id': path })),
          { maxLength: 4 },
        ),
      },
      fc.anything({ maxDepth: 2 }),
    );
    const names = [
      'Systems',
      'Managers',
      'Members',
      'Members@odata.nextLink',
      'LogServices',
      'Entries',
      'Storage',
      'Drives',
      'PCIeDevices',
      'Memory',
      'Actions',
      'Boot',
    ];
    const resource = fc.dictionary(fc.constantFrom(...names), value, { minKeys: 1, maxKeys: 8 });
    let resources: object[] = [];
    const service = await startService(({ method, path }, response) =>
      method === 'GET' ? (resources[paths.indexOf(path)] ?? sendJson(response, {}, { status: 404 })) : sendJson(response, {}),
    );
    onTestFinished(() => service[Symbol.asyncDispose]());
    const client = service.client();
    await fc.assert(
      fc.asyncProperty(fc.array(resource, { minLength: 5, maxLength: 5 }), async (answers) => {
        resources = answers;
        const calls = await Promise.allSettled([client.inspect(), client.reset('On'), client.bootOnceFromNetwork()]);
        for (const call of calls) if (call.status === 'rejected') expect(call.reason).toBeInstanceOf(RedfishError);
      }),
      { numRuns: 60 },
    );
  });

  it('a JSON text has no more values than its shape', () => {
    const countOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Object.values(value).reduce<number>((sum, one) => sum + countOf(one), 0)
        : 1;
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        expect(countOf(value)).toBeLessThanOrEqual(1 + 2 * shapeOf(JSON.stringify(value)).values);
      }),
    );
  });

  it('calls never use more memory than there is, and ended calls leave nothing', async () => {
    const step = fc.record({ holder: fc.nat(4), octets: fc.nat(60), what: fc.constantFrom('hold', 'hold', 'give back', 'end') });
    await fc.assert(
      fc.asyncProperty(fc.array(step), async (steps) => {
        const memory = new AnswerMemory(100, 60_000);
        const taken = [0, 0, 0, 0, 0];
        const holders = taken.map(() => ({ isEnded: false, end: () => undefined }));
        const settled = () => new Promise((resolve) => setImmediate(resolve));
        for (const { holder, octets, what } of steps) {
          const one = holders[holder] as (typeof holders)[number];
          const has = taken[holder] ?? 0;
          if (what === 'hold' && !one.isEnded) {
            void memory.hold(one, octets).then(() => {
              if (!one.isEnded) taken[holder] = (taken[holder] ?? 0) + octets;
            });
          } else if (what === 'give back' && !one.isEnded) {
            memory.giveBack(one, Math.min(octets, has));
            taken[holder] = has - Math.min(octets, has);
          } else if (what === 'end') {
            one.isEnded = true;
            taken[holder] = 0;
            memory.release(one);
            memory.giveBack(one, octets);
          }
          await settled();
          expect(memory.total).toBe(taken.reduce((sum, octetsOfOne) => sum + octetsOfOne, 0));
          expect(memory.total).toBeLessThanOrEqual(100);
        }
        for (const holder of holders) {
          holder.isEnded = true;
          memory.release(holder);
        }
        expect(memory.total).toBe(0);
      }),
    );
  });

  it('the oldest call that waits for memory gets it first', async () => {
    const memory = new AnswerMemory(100, 60_000);
    const named = (name: string): Named => ({ name, end: () => undefined });
    const [first, second, third] = [named('first'), named('second'), named('third')];
    await memory.hold(first, 40);
    await memory.hold(second, 60);
    const order: string[] = [];
    const waits = ([third, second, first] as const).map((one) => memory.hold(one, 30).then(() => order.push(one.name)));
    memory.giveBack(second, 30);
    await Promise.race(waits);
    expect(order).toEqual(['first']);
    memory.release(first);
    await Promise.all(waits);
    expect([order, memory.total]).toEqual([['first', 'second', 'third'], 90]);
  });

  it('if no call returns memory, the waiting call that needs the most is ended, and the others continue', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 8 }), async (octets) => {
        const memory = new AnswerMemory(100, 0);
        const ended: number[] = [];
        const holders = octets.map((_, index): Holder => ({ end: () => ended.push(index) }));
        await Promise.all(octets.map((one, index) => memory.hold(holders[index] as Holder, one)));
        const left = octets.filter((_, index) => !ended.includes(index));
        expect(memory.total).toBe(left.reduce((sum, one) => sum + one, 0));
        for (const index of ended) for (const one of left) expect(octets[index]).toBeGreaterThanOrEqual(one);
      }),
      { numRuns: 30 },
    );
  });

  it('a JSON text is an object or a reason', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        const parsed = parseResource(text);
        expect(parsed.ok ? isResource(parsed.resource) : parsed.reason).toBeTruthy();
      }),
    );
  });

  it.each([
    [MOST_DEPTH, true],
    [MOST_DEPTH + 1, false],
  ])('objects %d deep: %s; brackets in texts do not count', (depth, ok) => {
    const text = `{"a":${'['.repeat(depth - 1)}"]]{{\\"[["${']'.repeat(depth - 1)}}`;
    expect(parseResource(text).ok).toBe(ok);
  });

  it('a link stays on its server', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc
            .array(
              fc.constantFrom(
                '/',
                '//',
                '\\\\',
                ':',
                '@',
                '?',
                '#',
                '\t',
                '..',
                'https:',
                'ftp:',
                '10.0.0.10',
                ':443',
                'x.test',
                '%2f',
                'redfish',
              ),
            )
            .map((parts) => parts.join('')),
        ),
        (link) => {
          const path = resolveLink(link, ORIGIN);
          if (path !== undefined) {
            expect(path.startsWith('/') && !/\s/.test(path)).toBe(true);
            expect(new URL(`${ORIGIN}${path}`).host).toBe('10.0.0.10');
          }
        },
      ),
    );
  });
});

describe('law: logs', () => {
  const log = fc.array(
    fc.record({
      id: fc.string(),
      time: fc.oneof(
        fc.constant(''),
        fc.constant('odd'),
        fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(4e12) }).map((date) => date.toISOString()),
      ),
      severity: fc.constant('OK'),
      message: fc.string(),
    }),
    { maxLength: 20 },
  );

  it('no entry is lost, and those with a time that rises stay in order', () => {
    fc.assert(
      fc.property(fc.array(log, { maxLength: 4 }), (logs) => {
        const merged = mergeLogs(logs);
        const keys = (entries: readonly LogEntry[]) => entries.map((entry) => JSON.stringify(entry)).sort();
        expect(keys(merged)).toEqual(keys(logs.flat()));
      }),
    );
  });

  it('with rising and with falling times give the same list, oldest first', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(1e9), { minLength: 2 }), (seconds) => {
        const sorted = seconds.toSorted((one, other) => one - other).map((second) => new Date(second * 1_000).toISOString());
        const entries = sorted.map((time) => ({ id: time, time, severity: '', message: '' }));
        expect(mergeLogs([entries])).toEqual(entries);
        expect(mergeLogs([entries.toReversed()])).toEqual(entries);
      }),
    );
  });
});

it('law: an order that is the same for every permutation', () => {
  const links = fc.array(
    fc.oneof(
      fc.string(),
      fc.nat(200).map((number) => `/Memory/DIMM${number}`),
    ),
  );
  fc.assert(
    fc.property(links, fc.nat(), (all, seed) => {
      const shuffled = all.toSorted((one, other) => ((one.length * seed) % 7) - ((other.length * seed) % 7));
      expect(shuffled.toSorted(naturalOrder)).toEqual(all.toSorted(naturalOrder));
    }),
  );
});

it('law: no secret is left in a text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1 }), { minLength: 1 }), fc.array(fc.string()), (secrets, texts) => {
      const plain = secrets.filter((secret) => !'***'.includes(secret) && !secret.includes('*'));
      const text = texts.flatMap((one, index) => [one, plain[index % Math.max(plain.length, 1)] ?? '']).join(' | ');
      for (const part of redactor(plain)(text).split('***')) for (const secret of plain) expect(part).not.toContain(secret);
    }),
  );
});
