//! Text inside of SVG and HTML.

/// The text with all escaped that would end an element or an attribute.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    #[test]
    fn text_cannot_end_an_element_or_an_attribute() {
        assert_eq!(super::escaped("a<b> & \"c'"), "a&lt;b&gt; &amp; &quot;c&#39;");
    }
}
