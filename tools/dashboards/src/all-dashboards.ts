import type { Dashboard } from './dashboard.js';
import { agent } from './dashboards/agent.js';
import { fleet } from './dashboards/fleet.js';
import { hosts } from './dashboards/hosts.js';
import { pool } from './dashboards/pool.js';
import { wakeOnLan } from './dashboards/wake-on-lan.js';

/** All dashboards, in the order in which pages list them. */
export const DASHBOARDS: readonly Dashboard[] = [fleet, pool, agent, hosts, wakeOnLan];
