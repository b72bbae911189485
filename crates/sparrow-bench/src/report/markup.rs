//! Elements of HTML and SVG that are well-formed and escaped because nothing else can be built.
//!
//! Text and attributes are escaped where the page is written, once; only text known at compile time
//! (the style sheet) goes in as it is.

/// An element with its attributes and what it contains.
pub(super) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Node>,
}

enum Node {
    Element(Element),
    Text(String),
    Verbatim(&'static str),
}

/// Elements that have no content and no end tag in HTML.
const VOID: [&str; 2] = ["meta", "br"];

/// Elements after which a new line is written: none of them stands inside running text.
const LINES: [&str; 18] = [
    "html", "head", "body", "meta", "style", "title", "h1", "h2", "h3", "p", "section", "figure",
    "tr", "g", "rect", "use", "li", "div",
];

/// An element without attributes and content.
pub(super) fn element(name: &'static str) -> Element {
    Element { name, attributes: Vec::new(), children: Vec::new() }
}

impl Element {
    /// With an attribute; the value may be any text.
    pub(super) fn attribute(mut self, name: &'static str, value: impl ToString) -> Self {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// With a class.
    pub(super) fn class(self, value: impl ToString) -> Self {
        self.attribute("class", value)
    }

    /// With text after what it already contains.
    pub(super) fn text(mut self, text: impl Into<String>) -> Self {
        self.children.push(Node::Text(text.into()));
        self
    }

    /// With an element after what it already contains.
    pub(super) fn child(mut self, child: Element) -> Self {
        self.children.push(Node::Element(child));
        self
    }

    /// With elements after what it already contains.
    pub(super) fn children(mut self, children: impl IntoIterator<Item = Element>) -> Self {
        self.children.extend(children.into_iter().map(Node::Element));
        self
    }

    /// With text known at compile time, which is written as it is.
    pub(super) fn verbatim(mut self, text: &'static str) -> Self {
        self.children.push(Node::Verbatim(text));
        self
    }

    /// Writes the element and all it contains.
    pub(super) fn write(&self, page: &mut String) {
        page.push('<');
        page.push_str(self.name);
        for (name, value) in &self.attributes {
            page.push(' ');
            page.push_str(name);
            page.push_str("=\"");
            escape(value, page);
            page.push('"');
        }
        page.push('>');
        for child in &self.children {
            match child {
                Node::Element(element) => element.write(page),
                Node::Text(text) => escape(text, page),
                Node::Verbatim(text) => page.push_str(text),
            }
        }
        if !VOID.contains(&self.name) {
            page.push_str("</");
            page.push_str(self.name);
            page.push('>');
        }
        if LINES.contains(&self.name) {
            page.push('\n');
        }
    }
}

/// Replaces what has a meaning in HTML, and control characters, which HTML does not allow.
fn escape(text: &str, page: &mut String) {
    for character in text.chars() {
        match character {
            '&' => page.push_str("&amp;"),
            '<' => page.push_str("&lt;"),
            '>' => page.push_str("&gt;"),
            '"' => page.push_str("&quot;"),
            '\'' => page.push_str("&#39;"),
            c if c.is_control() => page.push(char::REPLACEMENT_CHARACTER),
            c => page.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_cannot_leave_their_place() {
        let mut page = String::new();
        element("b").attribute("title", "\"><i>").text("</b>&'\u{1b}").write(&mut page);
        assert_eq!(page, "<b title=\"&quot;&gt;&lt;i&gt;\">&lt;/b&gt;&amp;&#39;\u{fffd}</b>");
    }
}
