import { z } from 'zod';
import { runId } from './requests.ts';
import type { RouteTable } from './route.ts';

const MOST_URL = 2_048;

export const shownImage = z
  .object({
    mediaType: z.enum(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']),
    data: z.base64(),
  })
  .meta({ id: 'ShownImage', description: 'An image from elsewhere, by value: it is no document of this server.' });

/** Images that an answer names and that a person asked to see. */
export const imageRoutes = {
  showImage: {
    method: 'GET',
    path: '/runs/{id}/image',
    about: 'An image from elsewhere that the run names, fetched by the server, for who has agreed to ask its host.',
    scope: 'read',
    params: runId,
    query: z.strictObject({ url: z.string().max(MOST_URL) }),
    status: 200,
    reply: shownImage,
    refuses: ['image_refused'],
  },
} as const satisfies RouteTable;
