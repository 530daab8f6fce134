import { optionalPackage } from '../modules/optional-package.ts';
import { markdownOf } from './markdown.ts';

/** The text of a Word file as Markdown. Rejects for bytes that are none. Throws `package_missing`. */
export async function readDocx(bytes: Uint8Array): Promise<string> {
  const { default: mammoth } = await optionalPackage(() => import('mammoth'), {
    purpose: 'reading Word files',
    needs: ['mammoth'],
  });
  const { value } = await mammoth.convertToHtml(
    { buffer: Buffer.from(bytes) },
    // The default puts pictures into the text as base64.
    { convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: '' })) },
  );
  return await markdownOf(value);
}
