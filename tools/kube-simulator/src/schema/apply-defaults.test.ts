import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../api-object.js';
import { applyDefaults } from './apply-defaults.js';

const schema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        mode: { type: 'string', default: 'All' },
        nested: { type: 'object', default: {}, properties: { d: { type: 'string', default: 'dd' } } },
        agent: { type: 'object', properties: { policy: { type: 'string', default: 'IfNotPresent' } } },
        list: { type: 'array', items: { type: 'object', properties: { v: { type: 'integer', default: 7 } } } },
        map: { type: 'object', additionalProperties: { type: 'object', properties: { v: { type: 'integer', default: 7 } } } },
        nullable: { type: 'string', nullable: true, default: 'x' },
        plain: { type: 'integer' },
      },
    },
  },
};

const filled = { mode: 'All', nested: { d: 'dd' }, nullable: 'x' };

describe('defaults', () => {
  it.each<readonly [string, JsonObject, JsonObject]>([
    ['fill what is missing, also in objects that a default makes', {}, filled],
    ['leave what is given', { mode: 'Some', nested: { d: 'e' } }, { ...filled, mode: 'Some', nested: { d: 'e' } }],
    ['come only into objects that are there', { agent: {} }, { ...filled, agent: { policy: 'IfNotPresent' } }],
    [
      'reach items and entries',
      { list: [{}, { v: 1 }], map: { a: {} } },
      { ...filled, list: [{ v: 7 }, { v: 1 }], map: { a: { v: 7 } } },
    ],
    ['take the place of a null that is not allowed', { mode: null }, filled],
    ['leave a null that is allowed', { nullable: null }, { ...filled, nullable: null }],
    ['drop a null that is not allowed where there is none', { plain: null, list: null }, filled],
    ['leave a null in a list for validation', { list: [null] }, { ...filled, list: [null] }],
  ])('%s', (_, spec, defaulted) => {
    expect(applyDefaults(schema, { spec })).toEqual({ spec: defaulted });
  });

  it('do not reach below what is missing', () => {
    expect(applyDefaults(schema, {})).toEqual({});
  });

  it('return the object itself when there is nothing to fill in', () => {
    const object = { spec: { ...filled, list: [{ v: 1 }], map: { a: { v: 1 } } } };
    expect(applyDefaults(schema, object)).toBe(object);
  });
});
