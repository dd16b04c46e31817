import { startKubeSimulator } from '../kube-simulator.js';
import { PassingTime } from './passing-time.js';
import type { RecordingTarget } from './recording-target.js';

/** The fields of a client certificate that the API server reads. */
const extra = { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${'0123456789abcdef'.repeat(4)}`] };

/** A fresh simulator. */
export async function startSimulatorTarget(): Promise<RecordingTarget> {
  const tokens = { admin: 'token-of-the-admin', limited: 'token-of-the-limited-user' };
  const time = new PassingTime();
  const simulator = await startKubeSimulator({
    watchTimer: time.timer,
    tokens: {
      [tokens.admin]: { username: 'admin', groups: ['system:masters', 'system:authenticated'], extra },
      [tokens.limited]: { username: 'limited', groups: ['system:authenticated'] },
    },
  });
  const { url, caCertificate } = simulator;
  return {
    url,
    ...(caCertificate === undefined ? {} : { caCertificate }),
    tokens,
    compact: () => {
      simulator.compact();
      return Promise.resolve();
    },
    passTime: (ms) => time.pass(ms),
    stop: () => simulator.stop(),
  };
}
