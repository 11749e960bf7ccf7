import { ResolveField, Resolver } from '@nestjs/graphql';
import { parseJsonText } from '@flotilla/mcp';
import type { ToolResult } from '@flotilla/mcp';
import type { Serves } from '../serves.js';

/** A device's answer, also in the two readings that most callers want. */
@Resolver('ToolResult')
export class ToolResultResolver implements Serves<'ToolResult', 'text' | 'json'> {
  /** Null where the answer has no text item. */
  @ResolveField()
  text(result: ToolResult) {
    const texts = result.content.flatMap((item) =>
      item.type === 'text' && typeof item['text'] === 'string' ? [item['text']] : [],
    );
    return texts.length === 0 ? undefined : texts.join('\n');
  }

  /** Null if the text is not JSON, as with most tools, or nests deeper than messages may. */
  @ResolveField()
  json(result: ToolResult) {
    const text = this.text(result);
    return text === undefined ? undefined : parseJsonText(text);
  }
}
