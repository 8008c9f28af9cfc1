/**
 * Whether a text is nothing but tags of these names and what stands in them. A person may write before, between or after
 * such tags, and may paste anything: the text is read in one pass, and only a tag that is closed counts.
 *
 * @param names a pattern of the names, such as `note|skill`
 */
export const isOnlyTags = (text: string, names: string): boolean => {
  const tag = new RegExp(`\\s*<(${names})>`, 'y')
  for (let end = 0; ; end = tag.lastIndex) {
    const found = tag.exec(text)
    if (found === null) return end > 0 && text.slice(end).trim() === ''
    const closing = `</${found[1]}>`
    const at = text.indexOf(closing, tag.lastIndex)
    if (at === -1) return false
    tag.lastIndex = at + closing.length
  }
}
