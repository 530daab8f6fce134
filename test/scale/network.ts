// A machine whose line to the database can be cut. A network namespace with a cable of its own, so that packets are really
// lost; where the system gives us none, a proxy that holds back what is sent.
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import type { TestContext } from 'node:test';
import type { Cluster } from '../support/postgres.ts';
import type { Machine } from './fleet.ts';
import { startProxy } from './proxy.ts';

/** What is lost: all packets, or those that come from the database only. */
export type Loss = 'all' | 'answers';

export interface FarMachine extends Machine {
  readonly cut: (loss: Loss) => void;
  readonly heal: () => void;
}

/** The addresses of all cables, one after another in blocks of four. */
const NETWORK = '10.213.0.0/16';

/** What a cluster needs so that other machines can call it. */
export const LISTENS = 'listen_addresses=*';

export function letIn({ folder, sql }: Cluster): void {
  appendFileSync(path.join(folder, 'data/pg_hba.conf'), `host all all ${NETWORK} trust\n`);
  sql('SELECT pg_reload_conf()');
}

let cables = 0;

/** One more machine. How its line is cut is told in the report of the test. */
export async function farMachine(t: TestContext, { url, port }: Cluster, schema: string): Promise<FarMachine> {
  try {
    const machine = inNamespace(t, url, schema);
    t.diagnostic('packets are lost in a network namespace');
    return machine;
  } catch (problem) {
    t.diagnostic(`cut by a proxy, for there are no network namespaces here: ${String(problem)}`);
    return behindProxy(t, url, port, schema);
  }
}

/** Throws where the system does not let us, or lets nothing through. */
function inNamespace(t: TestContext, url: string, schema: string): FarMachine {
  const block = (process.pid * 64 + cables++) % 16_384;
  const address = (host: number): string => `10.213.${block >> 6}.${(block & 63) * 4 + host}`;
  const name = `treadle${block}`;
  const cable = `tr${block}`;
  const there = url.replace('127.0.0.1', address(1));
  t.after(() => {
    quietly('link', 'del', cable); // the other end goes with it
    quietly('netns', 'del', name);
  });
  ip('netns', 'add', name);
  ip('link', 'add', cable, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  ip('address', 'add', `${address(1)}/30`, 'dev', cable);
  ip('-n', name, 'address', 'add', `${address(2)}/30`, 'dev', 'eth0');
  ip('-n', name, 'link', 'set', 'lo', 'up');
  ip('-n', name, 'link', 'set', 'eth0', 'up');
  ip('link', 'set', cable, 'up');
  const through = ['netns', 'exec', name];
  const { port } = new URL(there);
  const call = `require('net').connect(${port}, '${address(1)}', () => process.exit()).setTimeout(5000, () => process.exit(1))`;
  ip(...through, process.execPath, '-e', call);
  return {
    through: ['ip', ...through],
    url: `${there}?schema=${schema}`,
    cut(loss) {
      if (loss === 'all') ip('link', 'set', cable, 'down');
      else ip('route', 'add', 'blackhole', `${address(2)}/32`);
    },
    heal() {
      quietly('route', 'del', 'blackhole', `${address(2)}/32`);
      ip('link', 'set', cable, 'up');
    },
  };
}

async function behindProxy(t: TestContext, url: string, port: number, schema: string): Promise<FarMachine> {
  const proxy = await startProxy(port);
  t.after(() => proxy.close());
  return {
    through: [],
    url: `${url.replace(String(port), String(proxy.port))}?schema=${schema}`,
    cut: (loss) => proxy.hold(loss === 'all' ? true : 'answers'),
    heal: () => proxy.hold(false),
  };
}

function ip(...args: string[]): void {
  execFileSync('ip', args, { stdio: 'pipe' });
}

/** For what may be gone already. */
function quietly(...args: string[]): void {
  try {
    ip(...args);
  } catch {
    // it is gone
  }
}
