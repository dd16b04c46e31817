import { describe, expect, it } from 'vitest';
import type { Json } from '../api-object.js';
import { replayTranscript } from './replay-transcript.js';
import type { Step, Transcript } from './transcript.js';
import { startTranscriptServer } from './transcript-server.js';

const path = '/apis/example.com/v1/namespaces/s06/things';
const headers = { accept: 'application/json' };
const json = { 'content-type': 'application/json' };
const thing = (resourceVersion: string, more: Record<string, Json> = {}): Json => ({
  apiVersion: 'example.com/v1',
  kind: 'Thing',
  metadata: { name: 'a', uid: '<uid:1>', creationTimestamp: '<time:1>', resourceVersion },
  ...more,
});

/** A transcript as short as can be that has a bit of everything. */
const transcript: Transcript = {
  scenario: '06-made-up',
  about: 'made up for this test',
  steps: [
    {
      about: 'a list',
      request: { method: 'GET', path, headers },
      response: {
        status: 200,
        headers: json,
        body: {
          kind: 'ThingList',
          apiVersion: 'example.com/v1',
          metadata: { continue: '<continue:1>', resourceVersion: '100' },
          items: [],
        },
      },
    },
    {
      about: 'a watch',
      watch: { method: 'GET', path: `${path}?watch=1&resourceVersion=100&timeoutSeconds=2`, headers },
      response: { status: 200, headers: json },
      events: [
        { type: 'ADDED', object: thing('101', { spec: '<trimmed>' }) },
        { '<trimmed>': '5 events in all' },
        { type: 'MODIFIED', object: { metadata: { name: 'a', resourceVersion: '105' } } },
      ],
      closed: 'by server after 2 s',
    },
    {
      about: 'a create',
      request: { method: 'POST', path, headers, body: { spec: { size: 1 } } },
      response: {
        status: 201,
        headers: { ...json, warning: '299 - "unknown"' },
        body: thing('101', { spec: { size: 1, tags: ['x'] } }),
      },
    },
    {
      about: 'a change',
      request: { method: 'PUT', path: `${path}/a`, headers, body: thing('101') },
      response: { status: 200, headers: json, body: { '<trimmed>': true, resourceVersion: '105', size: 2 } },
    },
    {
      about: 'a conflict',
      request: { method: 'PUT', path: `${path}/a`, headers, body: thing('101') },
      response: {
        status: 409,
        headers: json,
        body: {
          kind: 'Status',
          message: 'uid: <uid:1>, current resource version: 105',
          details: { causes: [{ reason: 'A', message: 'x' }] },
          code: 409,
        },
      },
    },
    { note: 'nothing' },
  ],
};

const replayAgainst = async (served: Transcript) => {
  const target = await startTranscriptServer(served);
  try {
    return await replayTranscript(transcript, target, { definitions: [], prepare: false });
  } finally {
    await target.stop();
  }
};

const withAnswer = (index: number, change: (step: Step) => Step): Transcript => ({
  ...transcript,
  steps: transcript.steps.map((step, at) => (at === index ? change(step) : step)),
});

const withBody = (index: number, change: (text: string) => string): Transcript =>
  withAnswer(index, (step) => JSON.parse(change(JSON.stringify(step))) as Step);

describe('a replayed transcript', () => {
  it('finds no difference against a server that answers as recorded, with other uids, times, tokens and versions', async () => {
    expect(await replayAgainst(transcript)).toEqual([]);
  });

  it.each<[string, number, (text: string) => string, string]>([
    ['another status', 2, (text) => text.replace('"status":201', '"status":200'), 'status'],
    ['another header', 2, (text) => text.replace('299 -', '199 -'), 'headers.warning'],
    ['another number', 2, (text) => text.replace('"size":1,', '"size":2,'), 'body.spec.size'],
    ['one item more', 2, (text) => text.replace('["x"]', '["x","y"]'), 'body.spec.tags.length'],
    ['a missing key', 2, (text) => text.replace('"kind":"Thing",', ''), 'body.kind'],
    ['a key too many', 2, (text) => text.replace('"tags"', '"more":1,"tags"'), 'body.spec.more'],
    ['another uid of the same object', 4, (text) => text.replace('uid: <uid:1>', 'uid: <uid:2>'), 'body.message'],
    ['no time', 2, (text) => text.replace('<time:1>', 'yesterday'), 'body.metadata.creationTimestamp'],
    ['a change without a new version', 3, (text) => text.replaceAll('"105"', '"101"'), 'body.resourceVersion'],
    ['another value of a reduced object', 3, (text) => text.replace('"size":2', '"size":3'), 'body.size'],
    ['another text', 4, (text) => text.replace('current', 'newest'), 'body.message'],
    ['an impossible version in a text', 4, (text) => text.replace('version: 105', 'version: 99'), 'body.message'],
    ['another event', 1, (text) => text.replace('ADDED', 'MODIFIED'), 'events[0].type'],
    ['an event less', 1, (text) => text.replace('5 events', '4 events'), 'events.length'],
  ])('finds %s', async (_name, step, change, where) => {
    const differences = await replayAgainst(withBody(step, change));
    expect(differences.map((difference) => [difference.step, difference.where])).toContainEqual([step, where]);
  });

  it.each([
    ['does not end', 'by client', 'still open'],
    ['ends a second late', 'by server after 3 s', 'still open'],
    ['ends a second early', 'by server after 1 s', 'ended before'],
    ['ends at once', 'by server after 0 s', 'ended before'],
  ])('finds a watch that %s', async (_name, closed, got) => {
    const differences = await replayAgainst(withAnswer(1, (step) => ({ ...step, closed })));
    expect(differences).toMatchObject([{ step: 1, where: 'closed', expected: 'by server after 2 s', got }]);
  });
});
