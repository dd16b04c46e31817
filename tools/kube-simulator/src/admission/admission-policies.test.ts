import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type KubeSimulator, startKubeSimulator } from '../kube-simulator.js';

let simulator: KubeSimulator;
const MAPS = '/api/v1/namespaces/default/configmaps';
const GROUP = '/apis/admissionregistration.k8s.io/v1';

beforeAll(async () => {
  simulator = await startKubeSimulator({
    tls: false,
    tokens: { other: { username: 'other', groups: ['system:masters'] } },
  });
});

afterAll(() => simulator.stop());

beforeEach(async () => {
  await send('DELETE', `${GROUP}/validatingadmissionpolicies/tried`);
  await send('DELETE', `${GROUP}/validatingadmissionpolicybindings/tried`);
  await send('DELETE', `${MAPS}/one`);
});

interface Reply {
  readonly code: number;
  readonly reason?: string;
  readonly message?: string;
}

async function send(method: string, path: string, body?: object, token = simulator.adminToken): Promise<Reply> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const response = await fetch(`${simulator.url}${path}`, {
    method,
    headers: { 'content-type': type, authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { code: response.status, ...((await response.json()) as object) };
}

async function bind(): Promise<void> {
  const spec = { policyName: 'tried', validationActions: ['Deny'] };
  expect(await send('POST', `${GROUP}/validatingadmissionpolicybindings`, { metadata: { name: 'tried' }, spec })).toMatchObject({
    code: 201,
  });
}

async function policy(spec: object): Promise<void> {
  const resourceRules = [
    { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['configmaps'] },
  ];
  const body = { metadata: { name: 'tried' }, spec: { matchConstraints: { resourceRules }, ...spec } };
  expect(await send('POST', `${GROUP}/validatingadmissionpolicies`, body)).toMatchObject({ code: 201 });
}

const create = (token?: string) => send('POST', MAPS, { metadata: { name: 'one' }, data: { a: 'x' } }, token);
const DENIED = `configmaps "one" is forbidden: ValidatingAdmissionPolicy 'tried' with binding 'tried' denied request: `;

describe('a ValidatingAdmissionPolicy', () => {
  it('denies nothing until it is bound', async () => {
    await policy({ validations: [{ expression: 'false' }] });
    expect(await create()).toMatchObject({ code: 201 });
    await bind();
    expect(await send('PATCH', `${MAPS}/one`, { data: { a: 'y' } })).toMatchObject({ code: 422 });
  });

  it.each<[what: string, spec: object, reply: Partial<Reply>]>([
    ['an expression that is true', { validations: [{ expression: "object.data.a == 'x'" }] }, { code: 201 }],
    [
      'one that is false',
      { validations: [{ expression: 'true' }, { expression: "object.data.a == 'y'" }] },
      { code: 422, reason: 'Invalid', message: `${DENIED}failed expression: object.data.a == 'y'` },
    ],
    [
      'a message and a reason',
      { validations: [{ expression: 'false', message: 'not this one', reason: 'Forbidden' }] },
      { code: 403, reason: 'Forbidden', message: `${DENIED}not this one` },
    ],
    [
      'one without a value',
      { validations: [{ expression: "object.data.b == 'y'" }] },
      { code: 422, message: `${DENIED}expression 'object.data.b == 'y'' resulted in error: no such key: b` },
    ],
    [
      'one without a value that is ignored',
      { failurePolicy: 'Ignore', validations: [{ expression: 'object.data.b == 1' }] },
      { code: 201 },
    ],
    [
      'variables, each after those before it',
      {
        variables: [
          { name: 'user', expression: 'request.userInfo.username' },
          { name: 'long', expression: "variables.user + '!'" },
        ],
        validations: [{ expression: "variables.long == 'other!'", message: 'of another user' }],
      },
      { code: 422, message: `${DENIED}of another user` },
    ],
    [
      'a condition that does not hold',
      {
        matchConditions: [{ name: 'other', expression: "request.userInfo.username == 'other'" }],
        validations: [{ expression: 'false' }],
      },
      { code: 201 },
    ],
  ])('with %s', async (_, spec, reply) => {
    await policy(spec);
    await bind();
    expect(await create()).toMatchObject(reply);
  });

  it('holds for the user and the operations that it names: the old object is there for a deletion', async () => {
    await policy({
      matchConditions: [{ name: 'other', expression: "request.userInfo.username == 'other'" }],
      validations: [{ expression: "oldObject == null || oldObject.data.a != 'x'" }],
    });
    await bind();
    expect(await create('other')).toMatchObject({ code: 201 });
    expect(await send('DELETE', `${MAPS}/one`, undefined, 'other')).toMatchObject({ code: 422 });
    expect(await send('DELETE', `${MAPS}/one`)).toMatchObject({ code: 200 });
  });
});
