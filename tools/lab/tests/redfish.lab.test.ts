/** The client of Redfish and redfishtool, the client of DMTF, against the stand-in for management controllers: what one of them sees and does, the other one sees too. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { BmcFleet, has, Lab, needs, SYSTEM_PATH, startBmcs } from '@vmdhcp/lab';
import { RedfishClient, type RedfishError } from '@vmdhcp/redfish-client';
import { certificateIssuer } from '@vmdhcp/service-certificates/node';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

const CREDENTIALS = { username: 'operator', password: 'lab-password' };
const NAME = 'bmc.lab';
const HOSTS = 1_000;
/** All of them take 17 seconds. */
const READ_EACH = 10;

let fleet: BmcFleet;
let authorities: string;

beforeAll(async () => {
  const validity = { notBeforeMs: Date.now() - 86_400_000, notAfterMs: Date.now() + 86_400_000 };
  const authority = await certificateIssuer.createAuthority('lab', validity);
  const tls = await certificateIssuer.issue(authority, [NAME], validity);
  authorities = authority.certificate;
  fleet = await BmcFleet.start({ addresses: Array.from({ length: HOSTS }, () => '127.0.0.1'), tls, credentials: CREDENTIALS });
});
afterAll(() => fleet.stop());

function memberAt(index: number) {
  const member = fleet.members[index];
  if (member === undefined) throw new Error(`no management controller ${index}`);
  return member;
}

function clientOf(index: number, timeoutMs = 20_000): RedfishClient {
  const { address, port } = memberAt(index);
  return new RedfishClient(
    { host: address, port, https: true, credentials: CREDENTIALS, authorities, serverName: NAME },
    { timeoutMs },
  );
}

describe('the client', () => {
  it('restarts a host once from the network', async () => {
    const { bmc } = memberAt(0);
    const client = clientOf(0);
    await client.bootOnceFromNetwork();
    await client.reset('ForceRestart');
    await client.reset('ForceRestart');
    await client.close();
    expect({ boots: bmc.boots, resets: bmc.resets, override: bmc.override.enabled }).toEqual({
      boots: ['Pxe', 'Hdd'],
      resets: ['ForceRestart', 'ForceRestart'],
      override: 'Disabled',
    });
  });

  it.each([
    ['hang', 'timeout'],
    ['nonsense', 'not-redfish'],
    ['refuse-credentials', 'unauthorized'],
    ['unavailable', 'unavailable'],
    ['reset-connection', 'connection-lost'],
  ] as const)('of a management controller with %s has the error %s, and works when that is over', async (behaviour, code) => {
    const { bmc } = memberAt(1);
    bmc.behaviour = behaviour;
    const client = clientOf(1, behaviour === 'hang' ? 200 : 20_000);
    expect(await client.inspect().catch((error: RedfishError) => error.code)).toBe(code);
    bmc.behaviour = 'good';
    const working = behaviour === 'hang' ? clientOf(1) : client;
    await expect(working.inspect()).resolves.toMatchObject({ info: { BmcFirmwareVersion: '2.80' } });
    await Promise.all([client.close(), working.close()]);
  });

  it(`for one of ${HOSTS} management controllers reads its own host`, async () => {
    memberAt(70).bmc.log.push({ time: '2026-01-01T00:00:00Z', severity: 'Critical', message: 'fan 1 failed' });
    const indices = Array.from({ length: HOSTS / READ_EACH }, (_, index) => index * READ_EACH);
    const reports = await Promise.all(
      indices.map(async (index) => {
        const client = clientOf(index);
        const report = await client.inspect();
        await client.close();
        return report;
      }),
    );
    expect(reports.map(({ info }) => info['HostName'])).toEqual(indices.map((index) => memberAt(index).bmc.id));
    expect(reports.map(({ log }) => log?.length)).toEqual(indices.map((index) => (index === 70 ? 1 : 0)));
  });
});

describe.skipIf(!has('redfishtool'))(`redfishtool ${needs('redfishtool')}`, () => {
  const redfishtool = async (index: number, ...words: readonly string[]): Promise<string> => {
    const { address, port } = memberAt(index);
    const server = ['-r', `${address}:${port}`, '-S', 'Always', '-u', CREDENTIALS.username, '-p', CREDENTIALS.password];
    const { stdout } = await promisify(execFile)('redfishtool', [...server, ...words], { env: { PATH: SYSTEM_PATH } });
    return stdout;
  };

  it.each(['Basic', 'Session'])('reads the same host with %s authentication', async (how) => {
    const system = JSON.parse(await redfishtool(2, '-A', how, 'Systems', '-I', '1', 'get')) as Record<string, unknown>;
    const client = clientOf(2);
    const { info } = await client.inspect();
    await client.close();
    expect([system['HostName'], system['BiosVersion'], system['PowerState']]).toEqual([
      info['HostName'],
      info['BiosVersion'],
      info['PowerState'],
    ]);
    expect(info['HostName']).toBe('bmc-3');
  });

  it('sees the boot override and the power that the client set, and the other way round', async () => {
    const { bmc } = memberAt(3);
    const client = clientOf(3);
    await client.bootOnceFromNetwork();
    const system = JSON.parse(await redfishtool(3, '-A', 'Basic', 'Systems', '-I', '1', 'get')) as { Boot: object };
    expect(system.Boot).toMatchObject({ BootSourceOverrideEnabled: 'Once', BootSourceOverrideTarget: 'Pxe' });
    await redfishtool(3, '-A', 'Basic', 'Systems', '-I', '1', 'reset', 'ForceOff');
    expect((await client.inspect()).info['PowerState']).toBe('Off');
    await redfishtool(3, '-A', 'Basic', 'Systems', '-I', '1', 'setBootOverride', 'Once', 'Hdd');
    await client.bootOnceFromNetwork();
    await client.reset('On');
    await client.close();
    expect({ boots: bmc.boots, resets: bmc.resets }).toEqual({ boots: ['Pxe'], resets: ['ForceOff', 'On'] });
  });

  it('reaches management controllers inside of a machine, which behave as the test wants', async () => {
    const lab = new Lab();
    try {
      lab.addNetwork('m1');
      const machine = lab.addMachine('bmcs', { network: 'm1', macAddress: '02:00:00:00:00:01' });
      machine.ip('address', 'add', '10.9.0.1/24', 'dev', 'eth0');
      machine.ip('address', 'add', '10.9.0.2/24', 'dev', 'eth0');
      const bmcs = await startBmcs(machine, { addresses: ['10.9.0.1', '10.9.0.2'], port: 8_000, credentials: CREDENTIALS });
      const reset = () =>
        machine
          .start('redfishtool', [
            '-r',
            '10.9.0.2:8000',
            '-S',
            'Never',
            '-A',
            'Basic',
            '-u',
            CREDENTIALS.username,
            '-p',
            CREDENTIALS.password,
            'Systems',
            '-I',
            '1',
            'reset',
            'ForceOff',
          ])
          .ended();
      await bmcs.behave({ 'bmc-2': 'refuse-credentials' });
      expect((await reset()).code).not.toBe(0);
      await bmcs.behave({});
      expect((await reset()).code).toBe(0);
      expect(bmcs.process.lines.filter((line) => line.includes('reset'))).toEqual(['bmc-2 reset ForceOff']);
    } finally {
      await lab.dispose();
    }
  });
});

/** Prints what it read; then the next boot is from the network, once, and the host is restarted. */
const WITH_SUSHY = `
import sys, sushy
from sushy import auth
address, how, username, password = sys.argv[1:]
client = sushy.Sushy('http://%s/redfish/v1/' % address, auth=getattr(auth, how)(username, password))
system = client.get_system(client.get_system_collection().members_identities[0])
manager = client.get_manager(client.get_manager_collection().members_identities[0])
system.set_system_boot_options(target=sushy.BOOT_SOURCE_TARGET_PXE, enabled=sushy.BOOT_SOURCE_ENABLED_ONCE)
system.refresh(force=True)
print(system.hostname, system.bios_version, system.power_state.value, manager.firmware_version, system.boot.target.value, system.boot.enabled.value)
system.reset_system(sushy.RESET_TYPE_FORCE_RESTART)
`;

describe.skipIf(!has('sushy'))(`sushy ${needs('sushy')}`, () => {
  it.each(['BasicAuth', 'SessionAuth'])('reads a host and boots it once from the network, with %s', async (how) => {
    const inClearText = await BmcFleet.start({ addresses: ['127.0.0.1'], credentials: CREDENTIALS });
    onTestFinished(() => inClearText.stop());
    const [member] = inClearText.members;
    const target = { host: '127.0.0.1', port: member?.port ?? 0, https: false, credentials: CREDENTIALS };
    const client = new RedfishClient(target, { timeoutMs: 20_000 });
    const { info } = await client.inspect();
    await client.close();
    const parameters = [`127.0.0.1:${target.port}`, how, CREDENTIALS.username, CREDENTIALS.password];
    const { stdout } = await promisify(execFile)('python3', ['-c', WITH_SUSHY, ...parameters], { env: { PATH: SYSTEM_PATH } });
    const read = ['HostName', 'BiosVersion', 'PowerState', 'BmcFirmwareVersion'].map((key) => info[key]);
    expect(stdout.trim()).toBe([...read, 'Pxe', 'Once'].join(' '));
    expect(member?.bmc).toMatchObject({ boots: ['Pxe'], resets: ['ForceRestart'] });
  });
});
