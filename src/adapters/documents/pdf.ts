import { optionalPackage } from '../modules/optional-package.ts';

export interface PdfText {
  readonly title: string | undefined;
  /** By page. A page that is a picture has no text. */
  readonly pages: readonly string[];
}

/** The text of a PDF file. Rejects for bytes that are none, or that want a password. Throws `package_missing`. */
export async function readPdf(bytes: Uint8Array): Promise<PdfText> {
  const { extractText, getDocumentProxy, getMeta } = await optionalPackage(() => import('unpdf'), {
    purpose: 'reading PDF files',
    needs: ['unpdf'],
  });
  // It takes the memory it is given for its own.
  const pdf = await getDocumentProxy(Uint8Array.from(bytes), { isEvalSupported: false, verbosity: 0 });
  try {
    const { text } = await extractText(pdf, { mergePages: false });
    const { info } = await getMeta(pdf);
    const title: unknown = info['Title'];
    return {
      title: typeof title === 'string' && title.trim() !== '' ? title.trim() : undefined,
      pages: text.map((page) => page.trim()),
    };
  } finally {
    await pdf.destroy();
  }
}
