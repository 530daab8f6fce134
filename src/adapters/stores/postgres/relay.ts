import type { Relay } from '../../../kernel/log.ts';
import type { Database } from './database.ts';
import { channelOf, MESSAGE_BYTES_MAX, type Line } from './line.ts';

/** What passes between processes that share a database, over the connection on which they hear of facts. */
export function createRelay(database: Database, line: Line): Relay {
  const channel = channelOf(database, 'passing');
  return {
    bytesMax: MESSAGE_BYTES_MAX - 100, // less who sends it
    send: (message) => line.send(channel, [message]),
    listen(listener, onUp) {
      const offs = [line.listen(channel, listener), line.onUp(onUp)];
      if (line.isUp) onUp();
      return () => offs.forEach((off) => off());
    },
  };
}
