//! ROLES_GRAPHML(): accounts and which of them are roles of which, as an XML document.

use std::fmt::Write;

use engine::Catalog;

use super::{all, edges};
use crate::parse::ast::UserName;

/// What an account gets that may not grant roles.
pub(crate) const NO_GRAPH: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?><graphml />";

const HEAD: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="key0" for="edge" attr.name="color" attr.type="int" />
  <key id="key1" for="node" attr.name="name" attr.type="string" />
  <graph id="G" edgedefault="directed" parse.nodeids="canonical" parse.edgeids="canonical" parse.order="nodesfirst">
"#;

/// Edges go from who has a role to the role; theirs comes first, then the accounts without any.
pub(crate) fn roles_graph(catalog: &Catalog) -> String {
    let edges = edges(catalog);
    let mut nodes: Vec<UserName> = Vec::new();
    let with_edges = edges.iter().flat_map(|(role, user, _)| [user.clone(), role.clone()]);
    for name in with_edges.chain(all(catalog).iter().map(super::Account::name)) {
        if !nodes.contains(&name) {
            nodes.push(name);
        }
    }
    let mut text = HEAD.to_owned();
    for (number, name) in nodes.iter().enumerate() {
        let name = escaped(&name.quoted());
        let _ = write!(text, "    <node id=\"n{number}\">\n      <data key=\"key1\">{name}</data>\n    </node>\n");
    }
    let number = |name: &UserName| nodes.iter().position(|node| node == name).unwrap_or_default();
    for (at, (role, user, admin)) in edges.iter().enumerate() {
        let (user, role, admin) = (number(user), number(role), u8::from(*admin));
        let _ = write!(
            text,
            "    <edge id=\"e{at}\" source=\"n{user}\" target=\"n{role}\">\n      <data key=\"key0\">{admin}</data>\n    </edge>\n"
        );
    }
    text + "  </graph>\n</graphml>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&apos;")
}
