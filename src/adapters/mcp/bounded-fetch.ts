import type { FetchLike } from '@modelcontextprotocol/client';

const NEWLINE = 0x0a;

/**
 * `fetch` that gives up a body with a message of more than `most` bytes.
 *
 * A stream of events may go on for ever, so there only a line counts, which is one message; elsewhere the whole body.
 */
export function boundedFetch(most: number, base: FetchLike = fetch): FetchLike {
  return async (url, init) => {
    const response = await base(url, init);
    if (response.body === null) return response;
    const isStream = response.headers.get('content-type')?.includes('text/event-stream') ?? false;
    const declared = Number(response.headers.get('content-length') ?? 0);
    const tooLong = (): Error => new Error(`a message of more than ${most} bytes`);
    if (!isStream && declared > most) {
      await response.body.cancel();
      throw tooLong();
    }
    let count = 0;
    const counted = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          const last = isStream ? chunk.lastIndexOf(NEWLINE) : -1;
          // The first line of the chunk ends what came before it.
          const first = isStream ? chunk.indexOf(NEWLINE) : -1;
          if (count + (first === -1 ? chunk.length : first) > most) {
            controller.error(tooLong());
            return;
          }
          count = last === -1 ? count + chunk.length : chunk.length - last - 1;
          controller.enqueue(chunk);
        },
      }),
    );
    const { status, statusText, headers } = response;
    const bounded = new Response(counted, { status, statusText, headers });
    Object.defineProperty(bounded, 'url', { value: response.url }); // a made response has none, and redirects are told by it
    return bounded;
  };
}
