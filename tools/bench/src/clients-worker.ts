/** The clients of an upgrade, in a thread of their own: what they wait for must not be this bench. */
import { parentPort, workerData } from 'node:worker_threads';
import { AddressWatch } from './address-watch.js';
import { RenewingClients } from './renewing-clients.js';
import type { ClientGroup, ClientsReport, ClientsRequest } from './upgrade-clients.js';

const groups = workerData as readonly ClientGroup[];
const watches = groups.map(({ network, serverAddress }) => new AddressWatch(network, serverAddress));
const clients = groups.map(({ network, macAddresses }) => new RenewingClients(network, macAddresses));

parentPort?.on('message', (request: ClientsRequest) => {
  if (request === 'report') parentPort?.postMessage(report());
  else process.exit(0);
});
for (const one of clients) await one.begin();
parentPort?.postMessage(report());

function report(): ClientsReport {
  return {
    longestWaitsMs: clients.map((one) => one.takeLongestWaitMs()),
    renewals: clients.reduce((sum, one) => sum + one.renewals, 0),
    otherAddresses: clients.reduce((sum, one) => sum + one.otherAddresses, 0),
    doubles: watches.reduce((sum, watch) => sum + watch.doubles, 0),
  };
}
