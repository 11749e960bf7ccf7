/**
 * A text of a device or an image: Markdown if it looks like it, otherwise its lines as they are.
 * The Markdown parser is loaded on first use.
 */
import { Suspense } from 'react';
import { lazyPart } from '../lazy-part';
import { looksLikeMarkdown } from './looks-like-markdown';
import classes from './markdown.module.css';

const Markdown = lazyPart(() => import('./markdown').then((module) => module.Markdown), PlainText);

export function MarkdownText({ text }: { readonly text: string }) {
  if (!looksLikeMarkdown(text)) return <PlainText text={text} />;
  return (
    <Suspense fallback={<PlainText text={text} />}>
      <Markdown text={text} />
    </Suspense>
  );
}

function PlainText({ text }: { readonly text: string }) {
  return <div className={classes.text}>{text}</div>;
}
