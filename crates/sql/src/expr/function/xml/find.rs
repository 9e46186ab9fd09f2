//! An XPath over a document: sets of nodes, and the values that are made of them.

use std::cmp::Ordering;

use base::memory;

use super::document::NodeKind;
use super::xpath::{Axis, Base, Leaf, Scalar, Set, Step};
use super::*;
use crate::expr::coerce;

/// A node of a set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) node: u32,
    /// Its number in what it was found in, from 0.
    place: u32,
}

/// What a predicate is asked of: the node, and how many are asked.
#[derive(Clone, Copy)]
pub(super) struct Context {
    member: Member,
    size: usize,
}

pub(super) struct Finder<'a, 'd> {
    pub(super) args: &'a Args<'a>,
    pub(super) document: &'a Document<'d>,
}

/// Sets are no larger: what finds nodes again and again grows with each step.
const MEMBERS_MAX: usize = 16 << 20;

/// A set that grows.
#[derive(Default)]
struct Found {
    members: Vec<Member>,
}

impl Found {
    fn push(&mut self, node: u32, place: u32) -> Result<(), SqlError> {
        memory::check_room(&self.members, 1)?;
        if self.members.len() == MEMBERS_MAX {
            return Err(SqlError::not_supported("an XPATH whose steps find so many nodes"));
        }
        self.members.push(Member { node, place });
        Ok(())
    }
}

impl Finder<'_, '_> {
    /// What the path gives, as text.
    pub(super) fn text(&self, path: &XPath) -> Result<Option<Vec<u8>>, SqlError> {
        match &path.item {
            Item::Set(set) => self.text_of(&self.set(set, None)?).map(Some),
            Item::Value(scalar) => {
                let value = self.scalar(scalar, None)?;
                Ok((!value.is_null()).then(|| coerce::text(&value, &scalar.expr.ty).to_vec()))
            }
        }
    }

    fn step(&self) -> Result<(), SqlError> {
        const STEPS: u64 = 16;
        self.args.ctx.worked(STEPS)
    }

    /// The texts of all nodes of a set, each once, in the order of the document, with spaces between.
    fn text_of(&self, set: &[Member]) -> Result<Vec<u8>, SqlError> {
        let mut texts = Vec::new();
        for member in set {
            for child in self.texts(member.node) {
                self.step()?;
                memory::check_room(&texts, 1)?;
                texts.push(child);
            }
        }
        texts.sort_unstable();
        texts.dedup();
        let mut out: Vec<u8> = Vec::new();
        for text in texts {
            let text = self.document.text_of(text);
            memory::check_room(&out, text.len() + 1)?;
            if !out.is_empty() {
                out.push(b' ');
            }
            out.extend_from_slice(text);
        }
        Ok(out)
    }

    /// The texts that are right in a node.
    fn texts(&self, node: u32) -> impl Iterator<Item = u32> {
        self.document.children(node).filter(|child| self.document.node(*child).kind == NodeKind::Text)
    }

    /// The value of an expression: first what it needs of the document, then itself.
    fn scalar(&self, scalar: &Scalar, context: Option<Context>) -> Result<Value, SqlError> {
        let ctx = self.args.ctx;
        let mut row = vec![Value::Null; scalar.leaves.len()];
        for (slot, leaf) in scalar.leaves.iter().enumerate() {
            row[slot] = match leaf {
                Leaf::Given => Value::Null,
                Leaf::Text(set) => Value::Str(self.text_of(&self.set(set, context)?)?.into()),
                Leaf::Exists(set) => Value::from(!self.set(set, context)?.is_empty()),
                Leaf::Count(set) => Value::Int(self.set(set, context)?.len() as i64),
                Leaf::Sum(set) => self.sum(&self.set(set, context)?)?,
                Leaf::Position => Value::Int(context.map_or(0, |context| i64::from(context.member.place) + 1)),
                Leaf::Last => Value::Int(context.map_or(0, |context| context.size as i64)),
                Leaf::Any { set, given, test } => {
                    let mut is_any = false;
                    for member in self.set(set, context)? {
                        for text in self.texts(member.node) {
                            self.step()?;
                            row[*given] = Value::Str(self.document.text_of(text).to_vec().into());
                            is_any = is_any || test.eval_truth(&row, ctx)? == Some(true);
                        }
                        if is_any {
                            break;
                        }
                    }
                    Value::from(is_any)
                }
            };
        }
        scalar.expr.eval(&row, ctx)
    }

    fn sum(&self, set: &[Member]) -> Result<Value, SqlError> {
        let mut sum = 0.0;
        for member in set {
            for text in self.texts(member.node) {
                self.step()?;
                sum += types::number::parse_f64(self.document.text_of(text)).0;
            }
        }
        Ok(Value::Double(sum))
    }

    pub(super) fn set(&self, set: &Set, context: Option<Context>) -> Result<Vec<Member>, SqlError> {
        let mut members = match &set.base {
            Base::Root => vec![Member { node: 0, place: 0 }],
            Base::Context => context.map(|context| Member { place: 0, ..context.member }).into_iter().collect(),
            Base::Union(sets) => {
                let mut all = Vec::new();
                for set in sets {
                    all.extend(self.set(set, context)?.into_iter().map(|member| member.node));
                }
                self.in_order(all)?
            }
        };
        for step in &set.steps {
            members = match step {
                Step::Axis(axis, name) => self.along(*axis, name.as_deref(), &members)?,
                Step::Where(scalar) => self.filtered(scalar, &members)?,
                Step::At(scalar) => self.at(scalar, &members)?,
            };
        }
        Ok(members)
    }

    /// Each node once, in the order of the document.
    fn in_order(&self, mut nodes: Vec<u32>) -> Result<Vec<Member>, SqlError> {
        self.args.ctx.worked(nodes.len() as u64)?;
        nodes.sort_unstable();
        nodes.dedup();
        let mut found = Found::default();
        for (place, node) in nodes.into_iter().enumerate() {
            found.push(node, place as u32)?;
        }
        Ok(found.members)
    }

    fn along(&self, axis: Axis, name: Option<&str>, members: &[Member]) -> Result<Vec<Member>, SqlError> {
        let document = self.document;
        let is_named = |node: u32| name.is_none_or(|name| document.text_of(node) == name.as_bytes());
        if let Axis::Parent | Axis::Ancestor { .. } = axis {
            return self.upwards(axis, &is_named, members);
        }
        let mut found = Found::default();
        for member in members {
            let node = member.node;
            let mut place = 0;
            if let Axis::Itself | Axis::Descendant { or_self: true } = axis {
                self.step()?;
                if is_named(node) {
                    found.push(node, place)?;
                    place += 1;
                }
            }
            let wanted = if axis == Axis::Attribute { NodeKind::Attribute } else { NodeKind::Element };
            let mut take = |inner: u32| {
                self.step()?;
                if document.node(inner).kind == wanted && is_named(inner) {
                    found.push(inner, place)?;
                    place += 1;
                }
                Ok::<_, SqlError>(())
            };
            match axis {
                Axis::Child | Axis::Attribute => document.children(node).try_for_each(&mut take)?,
                Axis::Descendant { .. } => (node + 1..document.node(node).after).try_for_each(&mut take)?,
                Axis::Itself | Axis::Parent | Axis::Ancestor { .. } => {}
            }
        }
        Ok(found.members)
    }

    /// Parents or ancestors, of which the root is no ancestor.
    fn upwards(&self, axis: Axis, is_named: &dyn Fn(u32) -> bool, members: &[Member]) -> Result<Vec<Member>, SqlError> {
        let mut nodes = Vec::new();
        for member in members {
            let mut node = member.node;
            if axis == (Axis::Ancestor { or_self: true }) && is_named(node) {
                nodes.push(node);
            }
            while node != 0 {
                self.step()?;
                memory::check_room(&nodes, 1)?;
                node = self.document.node(node).parent;
                if is_named(node) && (node != 0 || axis == Axis::Parent) {
                    nodes.push(node);
                }
                if axis == Axis::Parent {
                    break;
                }
            }
        }
        self.in_order(nodes)
    }

    fn filtered(&self, scalar: &Scalar, members: &[Member]) -> Result<Vec<Member>, SqlError> {
        let mut found = Found::default();
        for member in members {
            self.step()?;
            let value = self.scalar(scalar, Some(Context { member: *member, size: members.len() }))?;
            if coerce::truth(&value, self.args.ctx)? == Some(true) {
                found.push(member.node, found.members.len() as u32)?;
            }
        }
        Ok(found.members)
    }

    /// Those whose place is the number, which is asked of each.
    fn at(&self, scalar: &Scalar, members: &[Member]) -> Result<Vec<Member>, SqlError> {
        let mut found = Found::default();
        for member in members {
            self.step()?;
            let value = self.scalar(scalar, Some(Context { member: *member, size: members.len() }))?;
            let wanted = coerce::to_i64(&value, self.args.ctx)?.unwrap_or(0);
            if wanted.cmp(&(i64::from(member.place) + 1)) == Ordering::Equal {
                found.push(member.node, found.members.len() as u32)?;
            }
        }
        Ok(found.members)
    }
}
