import { ImageOff } from 'lucide-react';
import { useEffect, useState } from 'react';
import { useRemoteImage } from '../state/images.ts';
import { Button } from './button.tsx';

export interface RemoteImageProps {
  readonly src: string | undefined;
  readonly alt: string;
}

/**
 * What a model or a tool names as an image. Its address may say anything, and whoever is asked for it reads that: it stays
 * a name, with the address, until a person agrees. The server asks then, and the browser asks nobody else. Another address is another one of these: its `key`.
 */
export function RemoteImage({ src, alt }: RemoteImageProps) {
  const { host, isAgreed, agree, load, forget } = useRemoteImage(src);
  const [found, setFound] = useState<{ readonly data: string } | { readonly problem: string }>();
  const isWanted = isAgreed && found === undefined;
  useEffect(() => {
    if (!isWanted) return;
    let isGone = false;
    load().then(
      (data) => {
        if (!isGone) setFound({ data });
      },
      (error: unknown) => {
        forget();
        if (!isGone) setFound({ problem: error instanceof Error ? error.message : 'It cannot be shown.' });
      },
    );
    return () => {
      isGone = true;
    };
  }, [isWanted]);
  if (found !== undefined && 'data' in found)
    return <img className="result-image" src={found.data} alt={alt} title={`${alt} (${host ?? ''})`} />;
  const state = found !== undefined ? 'not shown' : isAgreed ? 'loading…' : 'not loaded';
  const choose = (to: 'image' | 'host') => (event: { preventDefault(): void; stopPropagation(): void }) => {
    // It may stand within a link, which is not what was meant.
    event.preventDefault();
    event.stopPropagation();
    setFound(undefined);
    agree(to);
  };
  return (
    <span className="remote-image">
      <ImageOff size={15} aria-hidden />
      <a href={src} title={src} target="_blank" rel="noreferrer noopener nofollow">
        {alt} (image at {host ?? 'an unknown place'}, {state})
      </a>
      {found !== undefined ? <small role="alert">{found.problem}</small> : null}
      {host === undefined || (isAgreed && found === undefined) ? null : (
        <span className="remote-image-choice">
          <Button look="quiet" aria-label={`Show the image ${alt}`} onClick={choose('image')}>
            {found === undefined ? 'Show' : 'Try again'}
          </Button>
          {isAgreed ? null : (
            <Button look="quiet" onClick={choose('host')}>
              Show all of {host} here
            </Button>
          )}
        </span>
      )}
      {isAgreed ? null : <small className="remote-image-address">{src}</small>}
    </span>
  );
}
