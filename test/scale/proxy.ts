// A line to a database that can be cut so that nobody is told: what is sent arrives nowhere, and nothing is closed.
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

export interface Proxy {
  readonly port: number;
  /** Lets through nothing any more, or no answers, or everything again that was held. */
  readonly hold: (held: boolean | 'answers') => void;
  readonly close: () => void;
}

export async function startProxy(target: number): Promise<Proxy> {
  const clients = new Set<Socket>();
  const upstreams = new Set<Socket>();
  let isHeld: boolean | 'answers' = false;
  const server = createServer((client) => {
    const upstream = connect(target, '127.0.0.1');
    for (const [from, to, side] of [
      [client, upstream, clients],
      [upstream, client, upstreams],
    ] as const) {
      side.add(from);
      from.on('data', (chunk) => void to.write(chunk));
      from.on('error', () => to.destroy());
      from.on('close', () => {
        side.delete(from);
        to.destroy();
      });
      if (isHeld === true || (isHeld === 'answers' && side === upstreams)) from.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port, // it listens on a port
    hold(held) {
      isHeld = held;
      for (const socket of held === false ? [] : upstreams) socket.pause();
      for (const socket of held === true ? clients : []) socket.pause();
      for (const socket of held === false ? [...clients, ...upstreams] : []) socket.resume();
    },
    close() {
      server.close();
      for (const socket of [...clients, ...upstreams]) socket.destroy();
    },
  };
}
