/** Acts with bare-metal hosts, their agents and the disk with their leases. */
import { octet } from '../cluster/machines.js';
import { type Act, chance, one } from './scene.js';

/** Everyday life in a rack. */
export const RACK_LIFE: Readonly<Record<string, Act>> = {
  'switch a new host on': (scene) => {
    const number = scene.next();
    const macAddress = `02:0b:00:00:${octet(number >> 8)}:${octet(number & 255)}`;
    const habits = { remembersLease: chance(scene, 50), releasesAtEnd: chance(scene, 30), probes: chance(scene, 50) };
    return scene.world.rack?.addHost(macAddress, habits) && `host ${macAddress} is switched on`;
  },
  'restart a host': (scene) => {
    const host = one(
      scene,
      (scene.world.rack?.hosts ?? []).filter(({ state }) => state !== 'off'),
    );
    host?.stop();
    if (host !== undefined) scene.later(20_000, () => host.start());
    return host && `host ${host.macAddress} restarts`;
  },
};

/** Faults of a rack. */
export const RACK_FAULTS: Readonly<Record<string, Act>> = {
  'kill a rack agent': (scene) => {
    const agent = one(scene, scene.world.rack?.running ?? []);
    if (agent !== undefined) scene.world.rack?.restart(agent);
    return agent && `${agent.owner} is killed${agent.isLeader() ? ', which led' : ''}`;
  },
  'freeze a rack agent': (scene) => {
    const agent = one(scene, scene.world.rack?.running ?? []);
    const ms = 200 + scene.world.random(20_000);
    agent?.process.freeze(ms);
    return agent && `${agent.owner} is frozen for ${ms} ms`;
  },
  'take the power of a rack agent': (scene) => {
    const agent = one(scene, scene.world.rack?.running ?? []);
    if (agent !== undefined) scene.world.rack?.losePower(agent, 1_000 + scene.world.random(30_000));
    return agent && `the node of ${agent.owner} loses power, and its disk what was not flushed`;
  },
  'restore an old copy of the disk of the leases': (scene) => {
    const restore = scene.world.rack?.copyDisk();
    if (restore !== undefined) scene.later(300_000, restore);
    return restore && 'the disk of the leases is copied, to be restored within five minutes';
  },
  'fill the disk of the leases': (scene) => {
    const disk = scene.world.rack?.disk;
    if (disk === undefined) return undefined;
    disk.isFull = true;
    scene.later(60_000, () => disk.mend());
    return 'the disk of the leases is full';
  },
  'slow the disk of the leases down': (scene) => {
    const disk = scene.world.rack?.disk;
    if (disk === undefined) return undefined;
    disk.mostMs = 50 + scene.world.random(5_000);
    scene.later(60_000, () => disk.mend());
    return `the disk of the leases takes up to ${disk.mostMs} ms for each operation`;
  },
};
