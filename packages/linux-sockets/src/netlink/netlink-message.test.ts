import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type NetlinkAnswer, readAnswers, writeRequest } from './netlink-message.js';
import { RECORDED_ANSWERS, RECORDED_SEQUENCE } from './recorded-messages-fixtures.js';

function answersIn(hex: string): Pick<NetlinkAnswer, 'kind'>[] {
  return [...readAnswers(Buffer.from(hex, 'hex'))].map((answer) => ({
    ...answer,
    ...('payload' in answer && { payload: answer.payload.length }),
  }));
}

describe('answers of the kernel, recorded', () => {
  it.each<[keyof typeof RECORDED_ANSWERS, unknown[]]>([
    ['done', [{ kind: 'end', sequence: RECORDED_SEQUENCE, errorNumber: 0 }]],
    ['File exists', [{ kind: 'end', sequence: RECORDED_SEQUENCE, errorNumber: 17 }]],
    ['end of a list', [{ kind: 'end', sequence: RECORDED_SEQUENCE + 1, errorNumber: 0 }]],
    ['addresses', Array.from({ length: 3 }, () => ({ kind: 'data', sequence: RECORDED_SEQUENCE + 1, payload: 64 }))],
  ])('%s', (name, expected) => {
    expect(answersIn(RECORDED_ANSWERS[name])).toEqual(expected);
  });

  it('end of a list without a number, as old kernels write it', () => {
    expect(answersIn('100000000300020035f8026b15660000')).toEqual([
      { kind: 'end', sequence: RECORDED_SEQUENCE + 1, errorNumber: 0 },
    ]);
  });

  it('a message that is cut off, and a length below that of a header, end the datagram', () => {
    expect(answersIn(`${RECORDED_ANSWERS.done}${RECORDED_ANSWERS.done.slice(0, -2)}`)).toHaveLength(1);
    expect(answersIn(`0f000000${RECORDED_ANSWERS.done.slice(8)}`)).toEqual([]);
  });

  it('law: reading any octets ends, and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (octets) => {
        expect([...readAnswers(Buffer.from(octets))].length).toBeLessThanOrEqual(octets.length / 16);
      }),
    );
  });
});

describe('writeRequest', () => {
  it('writes its own length, and leaves the rest of the memory as it was', () => {
    const into = Buffer.alloc(40, 0xee);
    const length = writeRequest(into, { type: 16, body: Buffer.alloc(4), attributes: [[3, Buffer.of(1)]] }, 7);
    expect(length).toBe(28);
    expect(into.toString('hex')).toBe(`1c000000100005000700000000000000${'00000000'}0500030001000000${'ee'.repeat(12)}`);
  });

  it('a request that is too large for the memory is refused, not cut', () => {
    const request = { type: 16, body: Buffer.alloc(16), attributes: [] };
    expect(() => writeRequest(Buffer.alloc(31), request, 1)).toThrow(RangeError);
    expect(writeRequest(Buffer.alloc(32), request, 1)).toBe(32);
  });
});
