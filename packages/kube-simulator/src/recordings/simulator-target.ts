import { startKubeSimulator } from '../kube-simulator.js';
import type { RecordingTarget } from './recording-target.js';

/** A fresh simulator. */
export async function startSimulatorTarget(): Promise<RecordingTarget> {
  const simulator = await startKubeSimulator({
    tokens: { 'token-of-limited': { username: 'limited', groups: ['system:authenticated'] } },
  });
  const { caCertificate } = simulator;
  return {
    url: simulator.url,
    ...(caCertificate === undefined ? {} : { caCertificate }),
    tokens: { admin: simulator.adminToken, limited: 'token-of-limited' },
    compact: () => Promise.resolve(simulator.compact()),
    stop: () => simulator.stop(),
  };
}
