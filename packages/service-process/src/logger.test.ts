import { Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { describeRecord } from './describe-record.js';
import { createLogger } from './logger.js';

/** The output to a terminal, or elsewhere. */
function output(isTTY: boolean): { stream: NodeJS.WriteStream; written: () => string } {
  let text = '';
  const stream = new Writable({
    write(chunk, _, done) {
      text += String(chunk);
      done();
    },
  });
  return { stream: Object.assign(stream, { isTTY }) as unknown as NodeJS.WriteStream, written: () => text };
}

describe('a logger on a terminal', () => {
  it('writes one line for each event: the message, then its fields, always in the same order', async () => {
    const { stream, written } = output(true);
    const logger = (await createLogger('info', stream)).child({ interface: 'eth1' });
    logger.info(
      { event: 'bound', mac: '02:00:00:00:48:01', address: '192.168.48.10', pool: 'default/net-48', hostname: 'printer' },
      'lease bound',
    );
    logger.warn({ problems: ['first', 'second one'], err: new Error('no\nway') }, 'refused');
    const lines = stripVTControlCharacters(written()).trimEnd().split('\n');
    expect(lines).toEqual([
      expect.stringMatching(
        /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: lease bound {2}pool=default\/net-48 interface=eth1 address=192\.168\.48\.10 mac=02:00:00:00:48:01 hostname=printer$/,
      ),
      expect.stringMatching(/ WARN: refused {2}interface=eth1 problems=\["first","second one"\] err="no\\nway"$/),
    ]);
  });

  it('contains the name of the program, if it has one', async () => {
    const { stream, written } = output(true);
    (await createLogger('info', stream)).child({ name: 'agent-a' }).info({ pools: 2 }, 'serving');
    expect(stripVTControlCharacters(written())).toMatch(/ INFO \(agent-a\): serving {2}pools=2\n$/);
  });

  it('elsewhere writes JSON', async () => {
    const { stream, written } = output(false);
    (await createLogger('info', stream)).info({ pool: 'default/net-48' }, 'served');
    expect(JSON.parse(written())).toMatchObject({ level: 'info', pool: 'default/net-48', msg: 'served' });
  });
});

it.each([
  ['text with spaces is in quotes', { pool: 'a b' }, 'sent  pool="a b"'],
  ['control characters are removed', { mac: '\x1b[2J\u009b' }, 'sent  mac="\\u001b[2J\\x9b"'],
  ['a message stays one line', { msg: 'one\ntwo\x1b' }, 'one two\\x1b'],
  ['numbers, lists and nothing', { count: 3, none: null, list: [{ a: 1 }] }, 'sent  count=3 none=null list=[{"a":1}]'],
])('in a record %s', (_, fields, line) => expect(describeRecord({ msg: 'sent', ...fields })).toBe(line));
