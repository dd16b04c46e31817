import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { HostEventLog } from './host-event-log.js';

it('hosts are counted by health, and operations by outcome, each with a line', async () => {
  const lines: string[] = [];
  const note = (level: string) => (_: unknown, text: string) => void lines.push(`${level} ${text}`);
  const registry = new Registry();
  const logger = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') } as never;
  const log = new HostEventLog(logger, registry, () => 0);
  log.observe({ kind: 'hosts', healthy: 3, unhealthy: 1 });
  log.observe({ kind: 'polled', name: 'rack-10-0-0-9', isHealthy: false, isOverdue: true, durationMs: 30_000 });
  const operation = { name: 'reboot', hostStatus: 'rack-10-0-0-9', action: 'PxeReboot' } as const;
  log.observe({ kind: 'operation-ended', ...operation, isSuccess: false, message: 'no answer', durationMs: 10 });
  expect(lines).toEqual(['info operation of a host ended: no answer']);
  const text = await registry.metrics();
  expect(text).toContain('vmdhcp_agent_hosts{state="healthy"} 3');
  expect(text).toContain('vmdhcp_agent_host_polls_total{outcome="overdue"} 1');
  expect(text).toContain('vmdhcp_agent_host_poll_duration_seconds_sum 30');
  expect(text).toContain('vmdhcp_agent_host_operations_total{action="PxeReboot",outcome="failure"} 1');
  expect(text).toContain('vmdhcp_agent_host_operation_duration_seconds_count{action="PxeReboot"} 1');
  log.forgetHosts();
  expect(await registry.metrics()).not.toContain('vmdhcp_agent_hosts{');
});

it('writes of objects of hosts are counted by outcome', async () => {
  const registry = new Registry();
  const ignore = () => undefined;
  const log = new HostEventLog({ debug: ignore, info: ignore, warn: ignore, error: ignore } as never, registry, () => 0);
  const written = { kind: 'written', write: 'status', name: 'rack-10-0-0-9' };
  log.observe(written as never);
  log.observe({ ...written, kind: 'write-failed', reason: 'conflict', message: 'changed', retryAfterMs: 10 } as never);
  const lines = (await registry.metrics()).split('\n').filter((line) => line.startsWith('vmdhcp_agent_host_writes_total{'));
  expect(lines).toEqual([
    'vmdhcp_agent_host_writes_total{write="status",outcome="written"} 1',
    'vmdhcp_agent_host_writes_total{write="status",outcome="conflict"} 1',
  ]);
});

it('each action and each outcome of a poll begins with 0, so that the first failure is an increase', async () => {
  const registry = new Registry();
  new HostEventLog({} as never, registry, () => 0);
  const text = await registry.metrics();
  expect(text.match(/^vmdhcp_agent_host_operations_total\{.* 0$/gm)).toHaveLength(14);
  expect(text.match(/^vmdhcp_agent_host_polls_total\{.* 0$/gm)).toHaveLength(4);
});

it('hosts that do not answer have separate series, the longest first and at most 500', async () => {
  const registry = new Registry();
  const log = new HostEventLog({} as never, registry, () => 0);
  log.followHosts(() => new Map(Array.from({ length: 600 }, (_, index) => [`rack-${index}`, (600 - index) * 1_000])));
  const series = async () =>
    (await registry.metrics()).match(/^vmdhcp_agent_host_unhealthy_since_timestamp_seconds\{.*$/gm) ?? [];
  const lines = await series();
  expect(lines).toHaveLength(500);
  expect(lines[0]).toBe('vmdhcp_agent_host_unhealthy_since_timestamp_seconds{hoststatus="rack-599"} 1');
  log.forgetHosts();
  expect(await series()).toEqual([]);
});

it('a flood of made-up clients does not flood the log', () => {
  const lines: string[] = [];
  const note = (_: unknown, text: string) => void lines.push(text);
  let nowMs = 0;
  const log = new HostEventLog({ debug: note, info: note, warn: note, error: note } as never, new Registry(), () => nowMs);
  const event = { type: 'Warning', reason: 'MacAddressChanged', message: 'another client has the lease' } as const;
  for (; nowMs < 60_000; nowMs += 5) {
    log.observe({ kind: 'event', event: { regarding: { kind: 'HostStatus', name: 'rack-10-0-0-9' }, event } });
    if (nowMs % 1_000 === 0) log.reportSuppressed();
  }
  expect(lines.length).toBeLessThan(1_200);
  expect(lines.at(-1)).toBe(event.message);
  expect(lines).toContain('too many changes of hosts: lines left out; writes and polls are counted in the metrics');
});
