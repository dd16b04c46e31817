import { expect, it } from 'vitest';
import { messageOf } from './message-of.js';

const named = (name: string) => Object.assign(new Error('x'), { name });

it.each<[string, unknown, string]>([
  ['no error', 'a text', 'a text'],
  ['undefined', undefined, 'undefined'],
  ['several attempts', new AggregateError([new Error('a'), new Error('b'), new Error('a')]), 'a; b'],
  ['no attempts', new AggregateError([], 'nothing was tried'), 'nothing was tried'],
  ['an error without a message', named('AbortError'), 'x'],
  ['an error with nothing but a name', Object.assign(new Error(''), { name: 'TimeoutError' }), 'TimeoutError'],
  [
    'an operation that was aborted with a reason',
    Object.assign(new Error('aborted', { cause: new Error('too slow') }), { name: 'AbortError' }),
    'too slow',
  ],
  [
    'a code with a meaning',
    Object.assign(new Error('connect'), { code: 'ENOTFOUND' }),
    'connect: the host name cannot be resolved',
  ],
  ['a code without one', Object.assign(new Error('open'), { code: 'ENOENT' }), 'open'],
])('the message of %s', (_, error, message) => {
  expect(messageOf(error)).toBe(message);
});
