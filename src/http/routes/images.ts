import type { Images } from '../../adapters/net/images.ts';
import type { Host } from '../../platform/hosting/host.ts';
import type { Handlers } from '../endpoint.ts';
import { Refusal } from '../refusal.ts';
import type { imageRoutes } from '../wire.ts';

/** A browser may keep what it was shown, for whoever it was shown to. A day, in seconds. */
const KEPT = 'private, max-age=86400';

/** Without `images`, the operator wants nothing fetched. */
export function imageHandlers({ runs }: Pick<Host, 'runs'>, images: Images | undefined): Handlers<typeof imageRoutes> {
  return {
    async showImage({ params, query: { url } }, { caller, context }) {
      // Whose run it is, is asked before anybody else is.
      await runs.snapshot(caller, params.id);
      if (images === undefined) throw new Refusal('image_refused', 'This server shows no images from elsewhere.');
      const found = await images.fetch(url, context.req.raw.signal);
      if (found.outcome === 'refused') throw new Refusal('image_refused', `The image is not shown: ${found.why}.`);
      context.header('Cache-Control', KEPT);
      context.header('Vary', 'Authorization', { append: true });
      return { body: { mediaType: found.mediaType, data: Buffer.from(found.bytes).toString('base64') } };
    },
  };
}
