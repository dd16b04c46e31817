import { describe, expect, it } from 'vitest';
import type { BindingRecord } from '../binding/binding.js';
import { BindingRecorder } from './binding-recorder.js';
import { mac, OpenServer } from './open-pool-fixtures.js';

/** A store whose writes end when the test ends them. */
class SlowStore {
  readonly written: string[] = [];
  #end: ((error?: Error) => void) | undefined;

  readonly append = (records: readonly BindingRecord[]) => this.#write(`append ${records.map(hostOf).join(' ')}`);
  readonly replace = (records: Iterable<BindingRecord>) => this.#write(`replace ${[...records].map(hostOf).join(' ')}`);

  #write(what: string): Promise<void> {
    this.written.push(what);
    return new Promise((resolve, reject) => {
      this.#end = (error) => (error === undefined ? resolve() : reject(error));
    });
  }

  /** Ends the current write, and waits for what follows it. */
  async end(error?: Error): Promise<void> {
    this.#end?.(error);
    for (let turn = 0; turn < 10; turn++) await Promise.resolve();
  }
}

const hostOf = (record: BindingRecord) => String(record.address & 255);

function recorderOn(server: OpenServer) {
  const store = new SlowStore();
  const failures: unknown[] = [];
  const recorder = new BindingRecorder({
    ...{ store, openPoolOf: () => server.open, nowMs: () => server.nowMs },
    onFailed: (error) => failures.push(error),
  });
  const settled: string[] = [];
  const record = (address: number) => {
    const client = { macAddress: mac(address), place: '' };
    const made = server.open.beginRecording(client, 0x0a000000 + address, server.nowMs);
    void recorder.record(made).then((isRecorded) => settled.push(`${address} ${isRecorded}`));
  };
  return { store, failures, recorder, settled, record };
}

describe('a binding recorder', () => {
  it('writes records that arrive during a write as one group; each takes effect when its group is written', async () => {
    const server = new OpenServer();
    const { store, settled, record } = recorderOn(server);
    for (const address of [10, 11]) record(address);
    await store.end();
    expect(store.written).toEqual(['append 10 11']);
    for (const address of [12, 13, 14]) record(address);
    expect(settled).toEqual([]);
    await store.end();
    expect(settled).toEqual(['10 true', '11 true']);
    expect(server.open.bindings.size).toBe(2);
    expect(store.written).toEqual(['append 10 11', 'append 12 13 14']);
    await store.end();
    expect(server.open.bindings.size).toBe(5);
  });

  it('a failed write loses its group and is reported once; the next write goes on', async () => {
    const server = new OpenServer();
    const { store, settled, failures, record } = recorderOn(server);
    for (const address of [10, 11]) record(address);
    await store.end();
    record(12);
    await store.end(new Error('disk full'));
    expect([settled, server.open.bindings.size, failures]).toEqual([['10 false', '11 false'], 0, [new Error('disk full')]]);
    await store.end();
    expect(settled).toEqual(['10 false', '11 false', '12 true']);
  });

  it('a replacement happens between two writes, from the bindings at that time', async () => {
    const server = new OpenServer();
    const { store, recorder, record } = recorderOn(server);
    record(10);
    await store.end();
    record(11);
    const replaced = recorder.replace(() => server.open.bindings.records());
    expect(await recorder.replace(() => [])).toBe(false);
    await store.end();
    expect(store.written).toEqual(['append 10', 'replace 10']);
    await store.end();
    expect(await replaced).toBe(true);
    expect(store.written).toEqual(['append 10', 'replace 10', 'append 11']);
    await store.end();
    const failed = recorder.replace(() => server.open.bindings.records());
    await store.end();
    await store.end(new Error('read-only'));
    expect(await failed).toBe(false);
  });
});
