// Requests that no client library would send.
import { connect, type Socket } from 'node:net';
import { request } from 'node:http';

/** Sends bytes as they are and gives everything that comes back until the server closes. */
export function raw(url: string, bytes: string | Buffer | readonly (string | Buffer)[]): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let said = '';
    const socket = connect(Number(port), hostname, () => {
      for (const part of Array.isArray(bytes) ? (bytes as readonly (string | Buffer)[]) : [bytes])
        socket.write(part as string);
    });
    socket.on('data', (data) => (said += data.toString()));
    socket.on('close', () => resolve(said));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE' || error.code === 'ECONNRESET') resolve(said);
      else reject(error);
    });
  });
}

/** A connection that is left open. */
export function open(url: string, bytes: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes, () => resolve(socket)));
    socket.on('error', reject);
  });
}

/** What a server answers that is called by this name: a code, or `ok`. */
export function hostOf(url: string, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(`${url}/api/v1/runs`, { headers: { host } }, (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () => resolve(/"code":"(\w+)"/.exec(text)?.[1] ?? 'ok'));
    });
    sent.on('error', reject);
    sent.end();
  });
}
