import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type KubeSimulator, startKubeSimulator } from './kube-simulator.js';

let simulator: KubeSimulator;

beforeEach(async () => {
  simulator = await startKubeSimulator({
    tls: false,
    tokens: { limited: { username: 'limited', groups: ['system:authenticated'] } },
  });
});

afterEach(() => simulator.stop());

const send = async (method: string, path: string, body?: object, token = simulator.adminToken) => {
  const response = await fetch(`${simulator.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    body: text === '' ? undefined : JSON.parse(text),
  };
};

const configMaps = '/api/v1/namespaces/default/configmaps';
const disturb = (fault: object) => send('POST', '/simulator/faults', fault);

/** Opens a watch and returns when it ended. */
const watch = async (query = '') => {
  const response = await fetch(`${simulator.url}${configMaps}?watch=1${query}`, {
    headers: { authorization: `Bearer ${simulator.adminToken}` },
  });
  return {
    status: response.status,
    ended: response.text().then(
      (text) => text,
      () => 'broken',
    ),
  };
};

describe('a fault that is asked for over HTTP', () => {
  it('is for the administrator only', async () => {
    expect(await send('POST', '/simulator/faults', { effect: { kind: 'answer', status: 500 } }, 'limited')).toMatchObject({
      status: 403,
      body: { message: 'forbidden: User "limited" cannot post path "/simulator/faults"' },
    });
  });

  it('is shown until it has hit, and may be taken back', async () => {
    const fault = { requests: { verb: 'list', resource: 'configmaps' }, effect: { kind: 'answer', status: 429 }, times: 2 };
    expect(await disturb(fault)).toMatchObject({ status: 200, body: { id: 1 } });
    expect(await send('GET', configMaps)).toMatchObject({ status: 429, retryAfter: '1', body: { reason: 'TooManyRequests' } });
    expect(await send('GET', '/simulator/faults')).toMatchObject({ body: { faults: [{ ...fault, id: 1, hits: 1 }] } });
    await send('DELETE', '/simulator/faults');
    expect((await send('GET', configMaps)).status).toBe(200);
  });

  it('must make sense', async () => {
    expect(await disturb({ effect: { kind: 'explode' } })).toMatchObject({ status: 400 });
    expect(await disturb({ action: 'explode' })).toMatchObject({ status: 400 });
  });

  it.each([
    ['before', 404],
    ['after', 200],
  ])('closes the connection %s a write takes effect', async (when, found) => {
    await disturb({ requests: { verb: 'create' }, effect: { kind: 'close', when } });
    await expect(send('POST', configMaps, { metadata: { name: 'a' } })).rejects.toThrow('fetch failed');
    expect((await send('GET', `${configMaps}/a`)).status).toBe(found);
  });

  it('drops watches', async () => {
    const open = await watch();
    expect(open.status).toBe(200);
    expect((await disturb({ action: 'drop-watches', requests: { resource: 'secrets' } })).body).toEqual({ watches: 0 });
    expect((await disturb({ action: 'drop-watches', requests: { resource: 'configmaps' } })).body).toEqual({ watches: 1 });
    await open.ended;
  });

  it('silences watches, and ends them', async () => {
    const open = await watch('&resourceVersion=1');
    await disturb({ action: 'stall-watches' });
    await send('POST', configMaps, { metadata: { name: 'a' } });
    await disturb({ action: 'end-watches' });
    expect(await open.ended, 'nothing came any more').not.toContain('"name":"a"');
  });

  it('tells watches to list again', async () => {
    const open = await watch();
    await disturb({ action: 'expire-watches' });
    expect(await open.ended).toContain('"type":"ERROR","object":{"kind":"Status"');
  });

  it('forgets what happened before', async () => {
    const { body } = await send('GET', configMaps);
    await send('POST', configMaps, { metadata: { name: 'a' } });
    await disturb({ action: 'compact' });
    const late = await watch(`&resourceVersion=${body.metadata.resourceVersion}`);
    expect(await late.ended).toContain('"code":410');
  });

  it('restarts the server with its data', async () => {
    await send('POST', configMaps, { metadata: { name: 'a' } });
    const open = await watch();
    await disturb({ action: 'restart' });
    await open.ended;
    const again = async (): Promise<number> => {
      for (let attempt = 0; attempt < 100; attempt += 1) {
        try {
          return (await send('GET', `${configMaps}/a`)).status;
        } catch {
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
      return 0;
    };
    expect(await again()).toBe(200);
  });
});
